package secret

import "strings"

// An entry has the names of a program's secret files, or of a kind of secret file.
type entry struct {
	program string
	names   string // anywhere, as patterns in lower case
	home    string // below the home directory; _/_ stands for a blank
}

// ownFiles are gemline's own, below its directory.
const ownFiles = ".env gemini-credentials.json oauth_creds.json mcp-oauth-tokens.json mcp-oauth-tokens-v2.json a2a-oauth-tokens.json google_accounts.json"

// The table omits files without which a program fails: these are in the table of [StoredFiles].
// It also omits Julia's ~/.julia/logs except for the history: Pkg records the packages in use
// there.
//
// pip's configuration names the package index, which is no secret: without it, pip may install
// another package of the same name.
var table = []entry{
	// Variables, keys and certificates.
	{"dotenv", ".env .env.* .env-* .env_* .env~ env~* *.env .envrc", ".env"},
	{"openssh", ".ssh id_rsa* id_dsa* id_ecdsa* id_ed25519* ssh_host_*_key", ".ssh"},
	{"gnupg", ".gnupg *.gpg.key secring.gpg", ".gnupg"},
	{"openssl", "*.pem *.key *.p12 *.pfx *.p8", ""},
	{"keytool", "*.jks *.keystore *.bks", ""},
	{"putty", "*.ppk", ".putty .config/putty"},
	{"age", "", ".config/age .age .passage"},
	{"sops", "", ".config/sops Library/Application_/_Support/sops"},
	{"kerberos", "*.keytab krb5cc_*", ""},
	{"nss", "", ".pki .local/share/pki"},
	{"vpn", "", ".cert"},
	{"x11", ".xauthority .iceauthority", ".Xauthority .ICEauthority"},

	// Stores of passwords.
	{"keepass", "*.kdbx *.kdb", ".config/KeePass .config/keepassxc Library/Application_/_Support/keepassxc"},
	{"pass", ".password-store", ".password-store .local/share/gopass .config/gopass"},
	{"1password", "", ".op .config/.op .config/op .config/1Password"},
	{"bitwarden", "", ".config/Bitwarden .config/Bitwarden_/_CLI Library/Application_/_Support/Bitwarden Library/Application_/_Support/Bitwarden_/_CLI"},
	{"lastpass", "", ".lpass .config/lpass .local/share/lpass"},
	{"keybase", "", ".config/keybase"},
	{"gnome-keyring", "*.keyring", ".local/share/keyrings .gnome2/keyrings"},
	{"kwallet", "*.kwl", ".local/share/kwalletd .kde/share/apps/kwallet .kde4/share/apps/kwallet"},
	{"python-keyring", "", ".local/share/python_keyring"},
	{"macos", "*.keychain *.keychain-db", "Library/Keychains Library/Cookies Library/Safari"},
	{"htpasswd", ".htpasswd", ""},
	{"ansible-vault", ".vault_pass* .vault-pass* vault_pass.txt", ".vault_pass .vault_pass.txt .ansible/galaxy_token"},
	{"vault", ".vault-token", ".vault-token"},

	// Git and what hosts it.
	{"git", ".git-credentials .gitconfig", ".git-credentials .config/git/credentials .git-credential-cache .cache/git/credential .gcm/store"},
	{"gh", "gha-creds-* gha-cr~*", ".config/gh"},
	{"glab", "", ".config/glab-cli Library/Application_/_Support/glab-cli"},
	{"hub", "", ".config/hub"},
	{"tea", "", ".config/tea Library/Application_/_Support/tea"},
	{"subversion", "", ".subversion/auth"},
	{"mercurial", ".hgrc", ".hgrc .config/hg/hgrc"},
	{"cvs", ".cvspass", ".cvspass"},

	// Other agents and models.
	{"claude", ".credentials.json", ".claude/.credentials.json .claude/settings.json .claude/history.jsonl .claude/.claude.json .claude.json .config/Claude Library/Application_/_Support/Claude"},
	{"codex", "", ".codex/auth.json .codex/.credentials.json .codex/history.jsonl"},
	{"copilot", "", ".config/github-copilot .copilot/config.json .copilot/mcp-config.json .copilot/mcp-oauth-config .copilot/command-history-state"},
	{"cursor", "", ".config/cursor/auth.json .config/Cursor/User/globalStorage Library/Application_/_Support/Cursor/User/globalStorage .cursor/mcp.json"},
	{"opencode", "", ".local/share/opencode/auth.json .local/share/opencode/mcp-auth.json"},
	{"qwen", "oauth_creds.json", ".qwen/oauth_creds.json .qwen/.env .qwen/settings.json"},
	{"crush", "", ".config/crush/crushrc .config/crush/crush.json .local/share/crush/crush.json"},
	{"aider", "", ".aider.conf.yml .aider"},
	{"goose", "", ".config/goose/secrets.yaml"},
	{"kilo", "", ".local/share/kilo/auth.json"},
	{"kiro", "", ".local/share/kiro-cli .local/share/amazon-q Library/Application_/_Support/kiro-cli Library/Application_/_Support/amazon-q"},
	{"kimi", "", ".kimi/credentials .kimi-code/credentials"},
	{"cline", "", ".cline/data/secrets.json .cline/data/settings/providers.json"},
	{"droid", "", ".factory/auth.json .factory/auth.encrypted .factory/auth.v2.file .factory/auth.v2.key"},
	{"amp", "", ".local/share/amp/secrets.json .config/amp"},
	{"continue", "", ".continue/.env .continue/config.json .continue/config.yaml"},
	{"llm", "", ".config/io.datasette.llm/keys.json Library/Application_/_Support/io.datasette.llm/keys.json"},
	{"huggingface", "", ".cache/huggingface/token .cache/huggingface/stored_tokens .huggingface"},
	{"kaggle", "kaggle.json", ".kaggle .config/kaggle"},
	{"wandb", "", ".config/wandb"},
	{"vscode", "", ".config/Code/User/globalStorage Library/Application_/_Support/Code/User/globalStorage"},
	{"zed", "", ".config/zed/development_credentials"},

	// Registries of packages.
	{"npm", ".npmrc", ".npmrc"},
	{"yarn", ".yarnrc*", ""},
	{"pnpm", "", ".config/pnpm/rc .config/pnpm/auth.ini Library/Preferences/pnpm/rc Library/Preferences/pnpm/auth.ini"},
	{"bun", "", ".bunfig.toml .config/.bunfig.toml"},
	{"pypi", ".pypirc", ".pypirc"},
	{"uv", "", ".local/share/uv/credentials"},
	{"conda", ".condarc", ".anaconda/keyring .continuum .local/share/binstar"},
	{"cargo", "", ".cargo/credentials .cargo/credentials.toml"},
	{"gem", "", ".gem/credentials .local/share/gem/credentials"},
	{"hex", "", ".hex/hex.config .config/hex/hex.config"},
	{"dart", "", ".config/dart/pub-credentials.json Library/Application_/_Support/dart/pub-credentials.json .pub-cache/credentials.json"},
	{"maven", "settings-security.xml", ".m2/settings-security.xml"},
	{"sbt", "", ".sbt/.credentials .ivy2/.credentials"},
	{"pause", ".pause", ".pause"},

	// Containers and the programs that run them.
	{"docker", ".docker .dockercfg", ".docker/config.json .docker/key.pem .docker/contexts/tls .dockercfg"},
	{"podman", "", ".config/containers/auth.json"},
	{"kubectl", ".kube kubeconfig kubeconfig.* *.kubeconfig", ".kube"},
	{"helm", "", ".config/helm/registry .config/helm/repositories.yaml Library/Preferences/helm"},
	{"minikube", "", ".minikube/profiles .minikube/machines .minikube/certs .minikube/ca.key"},
	{"argocd", "", ".config/argocd .argocd"},
	{"rancher", "", ".rancher"},

	// Clouds.
	{"aws", ".aws .boto", ".aws .boto"},
	{"azure", ".azure", ".azure .Azure .azd/auth .azd/auth.json .IdentityService .local/.IdentityService .local/share/.IdentityService"},
	{"gcloud", "application_default_credentials.json service-account*.json service_account*.json client_secret*.json", ".config/gcloud"},
	{"oci", "", ".oci"},
	{"ibmcloud", "", ".bluemix"},
	{"aliyun", "", ".aliyun"},
	{"doctl", "", ".config/doctl Library/Application_/_Support/doctl"},
	{"hcloud", "", ".config/hcloud"},
	{"linode", "", ".config/linode-cli .linode-cli"},
	{"scaleway", "", ".config/scw"},
	{"openstack", "clouds.yaml *-openrc.sh", ".config/openstack"},
	{"heroku", "", ".local/share/heroku"},
	{"fly", "", ".fly/config.yml"},
	{"vercel", "", ".local/share/com.vercel.cli Library/Application_/_Support/com.vercel.cli .vercel/auth.json"},
	{"netlify", "", ".config/netlify Library/Preferences/netlify .netlify"},
	{"wrangler", "", ".config/.wrangler Library/Preferences/.wrangler .wrangler"},
	{"cloudflared", "", ".cloudflared .cloudflare-warp cloudflare-warp"},
	{"railway", "", ".railway"},
	{"supabase", "", ".supabase"},
	{"firebase", "", ".config/configstore/firebase-tools.json"},
	{"sentry", ".sentryclirc", ".sentryclirc"},
	{"stripe", "", ".config/stripe"},
	{"ngrok", "", ".config/ngrok Library/Application_/_Support/ngrok .ngrok2 .ngrok"},
	{"databricks", ".databrickscfg", ".databrickscfg .databricks/token-cache.json"},
	{"snowflake", "", ".snowflake .snowsql .config/snowflake .cache/snowflake Library/Application_/_Support/snowflake"},
	{"dbt", "", ".dbt/profiles.yml .dbt/dbt_cloud.yml"},
	{"terraform", ".terraformrc terraform.tfstate* *.tfvars *.tfvars.json *.tfstate", ".terraformrc .terraform.d/credentials.tfrc.json"},
	{"opentofu", ".tofurc", ".tofurc .config/opentofu"},
	{"pulumi", "", ".pulumi/credentials.json"},
	{"rclone", "rclone.conf .rclone.conf", ".config/rclone .rclone.conf"},
	{"s3cmd", ".s3cfg", ".s3cfg"},
	{"s3fs", ".passwd-s3fs", ".passwd-s3fs"},
	{"mc", "", ".mc/config.json .mcli/config.json"},
	{"borg", "", ".config/borg/keys"},
	{"tailscale", "", ".local/share/tailscale"},
	{"solana", "", ".config/solana/id.json"},
	{"bitcoin", "wallet.dat", ".bitcoin Library/Application_/_Support/Bitcoin .electrum"},
	{"ethereum", "", ".ethereum/keystore Library/Ethereum/keystore .foundry/keystores"},

	// Networks, mail and chat.
	{"curl", ".netrc _netrc .curlrc", ".netrc _netrc .curlrc .config/.curlrc .config/curlrc"},
	{"wget", "", ".wgetrc"},
	{"lftp", "", ".local/share/lftp .config/lftp .lftp .lftprc"},
	{"filezilla", "", ".config/filezilla .filezilla"},
	{"emacs", ".authinfo", ".authinfo .authinfo.gpg"},
	{"samba", ".smbcredentials* .smbgetrc", ".smbcredentials .smbgetrc"},
	{"davfs2", "", ".davfs2"},
	{"wireguard", "wg0.conf", ""},
	{"mutt", ".muttrc", ".muttrc .mutt .config/mutt .neomuttrc .neomutt .config/neomutt"},
	{"msmtp", ".msmtprc", ".msmtprc .config/msmtp"},
	{"isync", ".mbsyncrc", ".mbsyncrc .config/isyncrc"},
	{"fetchmail", ".fetchmailrc", ".fetchmailrc"},
	{"getmail", "", ".getmail .config/getmail"},
	{"offlineimap", ".offlineimaprc", ".offlineimaprc .config/offlineimap"},
	{"aerc", "", ".config/aerc/accounts.conf"},
	{"evolution", "", ".config/evolution .local/share/evolution .config/goa-1.0"},
	{"claws-mail", "", ".claws-mail"},
	{"vdirsyncer", "", ".vdirsyncer .config/vdirsyncer"},
	{"gcalcli", "", ".gcalcli_oauth"},
	{"weechat", "", ".weechat .config/weechat .local/share/weechat .local/state/weechat"},
	{"irssi", "", ".irssi"},
	{"chat", "", ".purple .config/hexchat .config/Slack .config/discord .config/Signal .config/Element .local/share/TelegramDesktop Library/Application_/_Support/Slack Library/Application_/_Support/discord Library/Application_/_Support/Signal Library/Application_/_Support/Element"},

	// Browsers and sandboxed applications.
	{"mozilla", "logins.json key4.db cookies.sqlite", ".mozilla .config/mozilla .thunderbird Library/Application_/_Support/Firefox Library/Thunderbird"},
	{"chrome", "", ".config/google-chrome .config/google-chrome-beta .config/google-chrome-unstable .config/chromium Library/Application_/_Support/Google/Chrome Library/Application_/_Support/Google/Chrome_/_Beta Library/Application_/_Support/Google/Chrome_/_Canary Library/Application_/_Support/Chromium"},
	{"browsers", "", ".config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera Library/Application_/_Support/BraveSoftware Library/Application_/_Support/Microsoft_/_Edge Library/Application_/_Support/Vivaldi"},
	{"boxes", "", "snap/firefox snap/chromium .var/app"},

	// Databases.
	{"postgresql", ".pgpass .pg_service.conf", ".pgpass .pg_service.conf"},
	{"mysql", ".my.cnf .mylogin.cnf", ".my.cnf .mylogin.cnf"},
	{"mongodb", ".dbshell .mongorc.js .mongoshrc.js", ".dbshell .mongorc.js .mongoshrc.js .mongodb"},
	{"dbeaver", "credentials-config.json", ".local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json Library/DBeaverData/workspace6/General/.dbeaver/credentials-config.json"},

	// Histories.
	{"histories", "*_history *.histfile .histfile .lesshst lesshst .viminfo .rhistory", ".lesshst .local/share/lesshst .local/state/lesshst .viminfo .local/share/nvim/shada .local/state/nvim/shada .histfile"},
	{"bash", "", ".bash_history .sh_history .history"},
	{"zsh", "", ".zsh_history .zhistory .zsh_sessions"},
	{"fish", "fish_history", ".local/share/fish/fish_history"},
	{"nushell", "", ".config/nushell/history.txt .config/nushell/history.sqlite3 Library/Application_/_Support/nushell/history.txt Library/Application_/_Support/nushell/history.sqlite3"},
	{"atuin", "", ".local/share/atuin"},
	{"python", "", ".python_history .ipython/profile_default/history.sqlite .local/share/jupyter/runtime"},
	{"node", "", ".node_repl_history"},
	{"sql", "", ".psql_history .mysql_history .sqlite_history .mariadb_history .usql_history .config/pgcli/history .mycli-history"},
	{"redis", "", ".rediscli_history .redisclirc"},
	{"repls", "", ".irb_history .config/irb/irb_history .pry_history .local/share/pry/pry_history .php_history .lua_history .gdb_history .Rhistory .ghc/ghci_history .local/share/ghc/ghci_history .config/ghc/ghci_history .julia/logs/repl_history.jl .julia_history"},
}

// moves are variables that move the files of a program, each with the default place. A variable
// may name several files.
var moves = strings.Fields(`
	XDG_CONFIG_HOME=.config XDG_DATA_HOME=.local/share XDG_STATE_HOME=.local/state XDG_CACHE_HOME=.cache
	GNUPGHOME=.gnupg XAUTHORITY=.Xauthority ICEAUTHORITY=.ICEauthority SOPS_AGE_KEY_FILE=.config/sops/age/keys.txt
	PASSWORD_STORE_DIR=.password-store PASSAGE_DIR=.passage/store PASSAGE_IDENTITIES_FILE=.passage/identities KPXC_CONFIG=.config/keepassxc/keepassxc.ini
	OP_CONFIG_DIR=.config/op BITWARDENCLI_APPDATA_DIR=.config/Bitwarden_/_CLI LPASS_HOME=.lpass
	ANSIBLE_HOME=.ansible ANSIBLE_GALAXY_TOKEN_PATH=.ansible/galaxy_token ANSIBLE_VAULT_PASSWORD_FILE=.vault_pass
	GH_CONFIG_DIR=.config/gh HUB_CONFIG=.config/hub GCM_PLAINTEXT_STORE_PATH=.gcm/store
	CLAUDE_CONFIG_DIR=.claude CODEX_HOME=.codex HF_HOME=.cache/huggingface HF_TOKEN_PATH=.cache/huggingface/token
	NPM_CONFIG_USERCONFIG=.npmrc npm_config_userconfig=.npmrc CARGO_HOME=.cargo
	DOCKER_CONFIG=.docker REGISTRY_AUTH_FILE=.config/containers/auth.json KUBECONFIG=.kube/config ARGOCD_CONFIG_DIR=.config/argocd
	AWS_SHARED_CREDENTIALS_FILE=.aws/credentials AWS_CONFIG_FILE=.aws/config AZURE_CONFIG_DIR=.azure CLOUDSDK_CONFIG=.config/gcloud
	OCI_CONFIG_FILE=.oci/config OCI_CLI_CONFIG_FILE=.oci/config FLY_CONFIG_DIR=.fly SCW_CONFIG_PATH=.config/scw/config.yaml
	OS_CLIENT_CONFIG_FILE=.config/openstack/clouds.yaml OS_CLIENT_SECURE_FILE=.config/openstack/secure.yaml RCLONE_CONFIG=.config/rclone/rclone.conf
	NETRC=.netrc WGETRC=.wgetrc WEECHAT_HOME=.weechat LESSHISTFILE=.lesshst
	PHP_HISTFILE=.php_history GDBHISTFILE=.gdb_history R_HISTFILE=.Rhistory JULIA_HISTORY=.julia/logs/repl_history.jl JULIA_DEPOT_PATH=.julia
	PGPASSFILE=.pgpass PGSERVICEFILE=.pg_service.conf MYSQL_TEST_LOGIN_FILE=.mylogin.cnf REDISCLI_RCFILE=.redisclirc`)
