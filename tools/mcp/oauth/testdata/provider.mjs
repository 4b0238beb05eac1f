// An authorization server of somebody else's, oidc-provider, on this machine. Whoever comes
// is a user who agrees. It says its address on standard output, and ends with standard input.
import { createServer } from 'node:http';
const { default: Provider } = await import(`${process.argv[2]}/lib/index.js`);

const server = createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: 'resource', client_secret: 'of the resource', redirect_uris: [], response_types: [], grant_types: [] }],
  scopes: ['openid', 'offline_access', 'tools'],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/agree/${interaction.uid}` },
  ttl: { AccessToken: 60, RefreshToken: 3600, Grant: 3600, Session: 3600, Interaction: 600 },
  cookies: { keys: ['of the test'] },
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({ scope: 'tools', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: 60 }),
      useGrantedResource: () => true,
    },
  },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/agree/')) return next();
  const { prompt, params, session, grantId } = await provider.interactionDetails(ctx.req, ctx.res);
  let result = { login: { accountId: 'ada' } };
  if (prompt.name === 'consent') {
    const grant = grantId ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope('openid offline_access tools');
    grant.addResourceScope(params.resource, 'tools');
    result = { consent: { grantId: await grant.save() } };
  }
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: true }));
});

server.on('request', provider.callback());
console.log(issuer);
process.stdin.resume().on('end', () => process.exit(0));
