package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	for _, test := range []struct {
		name     string
		base     string // lines
		settings Settings
		has      string
		lacks    string // names
	}{
		{name: "nobody is asked", has: "GEMINI_CLI=1\nTERM=dumb\nNO_COLOR=1\nPAGER=cat\nGIT_PAGER=cat\nGIT_TERMINAL_PROMPT=0\n" +
			"GH_PROMPT_DISABLED=1\nDEBIAN_FRONTEND=noninteractive\nCI=1\nGIT_SSH_COMMAND=ssh -oBatchMode=yes\nSSH_ASKPASS=\nGIT_ASKPASS="},
		{name: "ours win", base: "TERM=xterm\nPAGER=less\nGIT_EDITOR=vi\nFORCE_COLOR=1\nCOLORTERM=truecolor\nDISPLAY=:0",
			has: "TERM=dumb\nPAGER=cat\nGIT_EDITOR=true\nDISPLAY=", lacks: "FORCE_COLOR COLORTERM"},
		{name: "pager", settings: Settings{Pager: "head -50"}, has: "PAGER=head -50\nGIT_PAGER=head -50"},
		{name: "not CI", settings: Settings{NotCI: true}, lacks: "CI"},
		{name: "CI as it is", base: "CI=true", has: "CI=true"},
		{name: "CI switched off", base: "CI=", has: "CI="},
		{name: "own ssh", base: "GIT_SSH_COMMAND=ssh -i work", has: "GIT_SSH_COMMAND=ssh -i work"},
		{name: "own ssh program", base: "GIT_SSH=/usr/bin/plink", has: "GIT_SSH=/usr/bin/plink", lacks: "GIT_SSH_COMMAND"},
		{name: "ordinary", base: "PATH=/bin\nHOME=/h\nLANG=C\nSSH_AUTH_SOCK=/s\nGOPATH=/go\nEMPTY=\nA=b=c",
			has: "PATH=/bin\nHOME=/h\nLANG=C\nSSH_AUTH_SOCK=/s\nGOPATH=/go\nEMPTY=\nA=b=c"},
		{name: "git identity", base: "GIT_AUTHOR_NAME=A\nGIT_AUTHOR_EMAIL=a@b\nGIT_COMMITTER_NAME=A\nGIT_CONFIG_GLOBAL=/g\nGIT_CONFIG_KEY_0=user.name\nGIT_CONFIG_COUNT=1",
			has: "GIT_AUTHOR_NAME=A\nGIT_AUTHOR_EMAIL=a@b\nGIT_COMMITTER_NAME=A\nGIT_CONFIG_GLOBAL=/g\nGIT_CONFIG_KEY_0=user.name\nGIT_CONFIG_COUNT=1"},
		{name: "no git settings", lacks: "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_COUNT"},
		{name: "own credentials", base: "GEMINI_API_KEY=k\nGOOGLE_API_KEY=k\nGOOGLE_APPLICATION_CREDENTIALS=/f\nGEMINI_CLI_CUSTOM_HEADERS=A: b\ngemini_api_key=k",
			settings: Settings{Reveal: true, Allowed: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_CLI_CUSTOM_HEADERS"}},
			lacks:    "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS GEMINI_CLI_CUSTOM_HEADERS gemini_api_key"},
		{name: "secrets by name", base: "OPENAI_API_KEY=k\nNPM_TOKEN=t\nmy_password=p\nDATABASE_URL=d\nSSL_CERT_FILE=/c\nTLS_CERT=c",
			has: "SSL_CERT_FILE=/c", lacks: "OPENAI_API_KEY NPM_TOKEN my_password DATABASE_URL TLS_CERT"},
		{name: "files of certificates", base: "PIP_CERT=/etc/ca.pem\nCUSTOM_CA_CERTS_FILE=/etc/ca.pem", has: "PIP_CERT=/etc/ca.pem\nCUSTOM_CA_CERTS_FILE=/etc/ca.pem"},
		{name: "secrets by value", base: "ODD=ghp_0123456789abcdefghijABCDEFGHIJ012345\nODDER=-----BEGIN PRIVATE\nURL=https://u:p@h/x\n" +
			"G=x AIzaSyA0123456789012345678901234567890123\nA=AKIAABCDEFGHIJKLMNOP\nPATH=ghp_0123456789abcdefghijABCDEFGHIJ012345",
			lacks: "ODD ODDER URL G A PATH"},
		{name: "secrets by the ends of names", base: "DB_PASS=x\nSMTPPASS=x\nMYSQL_PWD=x\nGPG_PASSPHRASE=x\nGITHUB_PAT=x\nPAT=x\nSLACK_WEBHOOK=x\nTEAMS_WEBHOOK_URL=x\nDB_PW=x\nPASS=x\nBYPASS=1\nCOMPAT=1\nPWD=/a\nOLDPWD=/b\nPATH=/bin\nCOMPASS=1\nPASSES=2\nPATTERN=p",
			has: "BYPASS=1\nCOMPAT=1\nPWD=/a\nOLDPWD=/b\nPATH=/bin\nCOMPASS=1\nPASSES=2\nPATTERN=p", lacks: "DB_PASS SMTPPASS MYSQL_PWD GPG_PASSPHRASE GITHUB_PAT PAT SLACK_WEBHOOK TEAMS_WEBHOOK_URL DB_PW PASS"},
		{name: "secrets by addresses", base: "REDIS=redis://:pw@host:6379/0\nA=https://hooks.slack.com/services/T0000/B0000/abcdefghijkl\nB=https://discord.com/api/webhooks/123456789/abcdefghijkl\nC=https://x.webhook.office.com/webhookb2/abcdef-0123456789\nD=https://prod-1.westus.logic.azure.com:443/workflows/abcdef0123456789?sig=x",
			lacks: "REDIS A B C D"},
		{name: "harmless addresses", base: "A=https://hooks.slack.com/\nB=https://user@host/x\nC=http://:8080/\nD=https://discord.com/api/webhooks/\nE=http://[::1]:80/@x",
			has: "A=https://hooks.slack.com/\nB=https://user@host/x\nC=http://:8080/\nD=https://discord.com/api/webhooks/\nE=http://[::1]:80/@x"},
		{name: "secrets by their looks", base: "AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9vYmFyYmF6;EndpointSuffix=core\n" +
			"ConnectionStrings__Default=Server=db;User Id=sa;Password=pw;\nSENTRY_DSN=https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1\n" +
			"LDAP_BINDPW=hunter2\nRAILS_MASTER=0123456789abcdef0123456789abcdef\nJWT=a.b.c\nSESSION=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc\n" +
			"VAPID=BNbxGYNMhEIi9zrneh7mqV4oUanjLUK3m\nSTRIPE=rk1234567890abcdefgh\nSALT=QwErTyUiOpAsDfGhJk\nODBC=Driver=x;UID=u;PWD=p\nSAS=https://a.example/c?se=2026&sig=abc",
			lacks: "AZURE_STORAGE_CONNECTION_STRING ConnectionStrings__Default SENTRY_DSN LDAP_BINDPW RAILS_MASTER JWT SESSION VAPID STRIPE SALT ODBC SAS"},
		{name: "harmless looks", base: "GIT_COMMIT=0123456789abcdef0123456789abcdef01234567\nDIGEST=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n" +
			"JAVA_TOOL_OPTIONS=-XX:+UseContainerSupport -Dfile.encoding=UTF-8\nTRACE=6f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\nSTAMP=1764201600000000000\n" +
			"ORIGIN=file:///tmp/Scripts1818871378/1\nNAME=internationalization\nNIX_STORE=/nix/store/3kx7mv1l2n4w8zq9abcd-go\nNODE_OPTIONS=--max-old-space-size=4096\nDBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus,guid=0123456789abcdef0123456789abcdef\nINVOCATION_ID=0123456789abcdef0123456789abcdef\nPOD_NAME=web-5d8f9c7b6-x2x4z",
			has: "GIT_COMMIT=0123456789abcdef0123456789abcdef01234567\nJAVA_TOOL_OPTIONS=-XX:+UseContainerSupport -Dfile.encoding=UTF-8\nTRACE=6f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\nSTAMP=1764201600000000000\n" +
				"ORIGIN=file:///tmp/Scripts1818871378/1\nNAME=internationalization\nNIX_STORE=/nix/store/3kx7mv1l2n4w8zq9abcd-go\nNODE_OPTIONS=--max-old-space-size=4096\nINVOCATION_ID=0123456789abcdef0123456789abcdef\nPOD_NAME=web-5d8f9c7b6-x2x4z"},
		{name: "harmless values", base: "A=AIza\nB=https://h/@scope\nC=git@host:x\nD=https://u@h/\nE=eyJ\nF=eyJ eyJ",
			has: "A=AIza\nB=https://h/@scope\nC=git@host:x\nD=https://u@h/\nE=eyJ\nF=eyJ eyJ"},
		{name: "what a shell begins with", base: "BASH_ENV=/x\nENV=/x\nBASH_FUNC_ls%%=() { rm; }\nBASH_FUNC_a()=() { rm; }\nSHELLOPTS=xtrace\nBASHOPTS=expand_aliases\nPS4=$(x)\nPROMPT_COMMAND=x\nCDPATH=/x\nIFS=x\nLD_LIBRARY_PATH=/own\nGIT_EXTERNAL_DIFF=own",
			settings: Settings{Reveal: true, Allowed: []string{"BASH_ENV"}},
			has:      "LD_LIBRARY_PATH=/own\nGIT_EXTERNAL_DIFF=own", lacks: "BASH_ENV ENV BASH_FUNC_ls%% BASH_FUNC_a() SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH IFS"},
		{name: "let through", base: "NPM_TOKEN=t\nGH_TOKEN=g", settings: Settings{Allowed: []string{"npm_token"}}, has: "NPM_TOKEN=t", lacks: "GH_TOKEN"},
		{name: "all let through", base: "NPM_TOKEN=t\nX=1", settings: Settings{Reveal: true, Blocked: []string{"X"}}, has: "NPM_TOKEN=t", lacks: "X"},
		{name: "blocked beats allowed", base: "X=1", settings: Settings{Allowed: []string{"X"}, Blocked: []string{"x"}}, lacks: "X"},
		{name: "nonsense", base: "NOVALUE\n=\n=C:=C:\\x\nOK=1", has: "OK=1", lacks: "NOVALUE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var base []string
			if test.base != "" {
				base = strings.Split(test.base, "\n")
			}
			before := slices.Clone(base)
			env := Environment(base, test.settings)
			if test.has != "" {
				for kv := range strings.SplitSeq(test.has, "\n") {
					if !slices.Contains(env, kv) {
						t.Errorf("%s is missing in %q", kv, env)
					}
				}
			}
			seen := map[string]bool{}
			for _, kv := range env {
				name, _, _ := strings.Cut(kv, "=")
				if slices.Contains(strings.Fields(test.lacks), name) {
					t.Errorf("%s is there", kv)
				}
				if seen[name] && name != "" {
					t.Errorf("%s is there twice", name)
				}
				seen[name] = true
			}
			if !slices.Equal(base, before) {
				t.Errorf("base was changed to %q", base)
			}
		})
	}
}

func TestWithheld(t *testing.T) {
	base := []string{"B_TOKEN=1", "GEMINI_API_KEY=k", "A_SECRET=2", "HOME=/h"}
	if got := Withheld(base, Settings{}); !slices.Equal(got, []string{"B_TOKEN", "A_SECRET"}) {
		t.Errorf("got %q", got)
	}
}

func TestOwn(t *testing.T) {
	if got := UserEnvironment([]string{"A=1", "GEMINI_API_KEY=k", "GH_TOKEN=t", "google_api_key=k"}); !slices.Equal(got, []string{"A=1", "GH_TOKEN=t"}) {
		t.Errorf("got %q", got)
	}
}

func TestSecrets(t *testing.T) {
	base := []string{"GEMINI_API_KEY=k", "DEPLOY_TOKEN=0123456789abcdef", "DB_PASSWORD=postgres", "API_SECRET=abc12345", "KEY_FILE=/etc/key", "A_TOKEN=yes",
		"GOOGLE_CLOUD_PROJECT=my-long-project-name-1", "PASS_PHRASE_KEY=these are words of a sentence", "HOME=/h", "LET_TOKEN=0123456789abcdef",
		"ODD=http://me:swordfish@host", "GOOGLE_APPLICATION_CREDENTIALS=/path/to/key.json"}
	var names []string
	for name := range Secrets(base, Settings{Allowed: []string{"LET_TOKEN"}}) {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"API_SECRET", "DEPLOY_TOKEN", "GEMINI_API_KEY", "ODD"}) {
		t.Errorf("got %q", names)
	}
	if got := Secrets(base, Settings{Reveal: true}); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestSecret(t *testing.T) {
	const (
		uuid  = "6f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
		sum32 = "0123456789abcdef0123456789abcdef"
		sum40 = sum32 + "01234567"
		sum64 = sum32 + sum32
	)
	for _, c := range []struct {
		secret bool
		vars   string // lines
	}{
		{true, "HEROKU_API_KEY=" + uuid + "\nPOSTMARK_SERVER_TOKEN=" + uuid + "\nVAULT_SECRET_ID=" + uuid + "\nCF_API_TOKEN=" + sum40 + "\nGITLAB_PAT=" + sum40 +
			"\nDD_API_KEY=" + sum32 + "\nDD_APP_KEY=" + sum40 + "\nNEW_RELIC_LICENSE_KEY=" + sum40 + "\nRAILS_MASTER_KEY=" + sum32 + "\nSECRET_KEY_BASE=" + sum64 +
			"\nFASTLY=" + sum32 + "\nPUSHER_APP=" + sum40 + "\nAIRBRAKE=" + sum64 + "\nDB_PASSWORD=postgres\nPGPASSWORD=hunter2\nMYSQL_PWD=correct-horse\nMYSQL_ROOT_PASSWORD=1234" +
			"\nREDIS_PASS=secret\nSMTPPASS=x\nLDAP_BINDPW=hunter2\nDB_PASSWD=a b\nGPG_PASSPHRASE=open sesame\nUNLOCK_PIN=0000\nSIP_PASSCODE=12" +
			"\nAWS_SECRET_ACCESS_KEY=/abcdefgh0123456789ABCDEFGHabcdefgh01234\nAWS_SESSION_TOKEN=x\nAZURE_CLIENT_SECRET=a~b.c\nDIGITALOCEAN_ACCESS_TOKEN=word" +
			"\nNPM_TOKEN=word\nGITHUBTOKEN=word\nSNYK_TOKEN=" + uuid + "\nMY_APIKEY=word\napi_key=word\napiKey=word\nclientSecret=word\nSSHKEY=word\nMYTOK=word\nJWT=a.b.c\nAPP_JWT=x" +
			"\nSENTRY_DSN=https://k@o1.ingest.sentry.io/1\nSLACK_WEBHOOK_URL=https://hooks.example/x\nDISCORD_WEBHOOK=https://x\nSESSION_COOKIE=x\nBASIC_AUTH=u:p\nHTPASSWD=u:x" +
			"\nPASSWORD_SALT=x\nWALLET_MNEMONIC=twelve words\nTOTP_SECRET=x\nNETLIFY_AUTH_TOKEN=x\nNEXTAUTH_SECRET=x\nSigningKey=x\nSTORAGE_CONNECTION_STRING=x\nDATABASE_URL=postgres://h/d" +
			"\nConnectionStrings__Main=Server=h;Password=pw\nMAIL=smtp://u:p@h\nODBC=DSN=x;PWD=pw\nALGOLIA=0a1b2c3d4e5f60718293a4b5c6d7e8f9\nTLS_CERT=x\nX-Api-Key=word"},
		{false, "KEYBOARD=us\nKEYMAP=de-latin1\nXKB_DEFAULT_LAYOUT=us\nAUTHOR=Jo\nGIT_AUTHOR_NAME=Jo\nAUTHORS=Jo and Al\nTOKENIZERS_PARALLELISM=false\nTOKENIZER=bert" +
			"\nMAX_TOKENS=4096\nLLM_TOKENS=100\nMONKEY=x\nTURKEY=x\nHOTKEY=ctrl\nKEYCLOAK_URL=https://h\nGOPRIVATE=github.com/x\nCOMPASS=1\nBYPASS=1\nPASSENGER=x\nPASSES=2" +
			"\nSSH_KEY_PATH=/home/x/.ssh/id\nKEY_FILE=/etc/key.pem\nSSH_KEY_TYPE=ed25519\nTOKEN_URL=https://h/token\nAUTH_DOMAIN=example.com\nAUTH_METHOD=ldap\nPASSWORD_MIN_LENGTH=8" +
			"\nCOOKIE_DOMAIN=x.com\nSECRET_NAME=db\nCREDENTIAL_HELPER=cache\nAUTH_ENABLED=true\nALLOW_EMPTY_PASSWORD=yes\nREQUIRE_AUTH=no\nSSL_CERT_FILE=/c\nSSH_AUTH_SOCK=/s" +
			"\nFILE_MD5=" + sum32 + "\nMD5SUM_MD5=" + sum32 + "\nGITHUB_SHA=" + sum40 + "\nGIT_COMMIT=" + sum40 + "\nCI_COMMIT_BEFORE_SHA=" + sum40 + "\nBUILD_SOURCEVERSION=" + sum40 +
			"\nCIRCLE_SHA1=" + sum40 + "\nghprbActualCommit=" + sum40 + "\nIMAGE_DIGEST=sha256:" + sum64 + "\nSRC_CHECKSUM=" + sum64 + "\nTRACE_ID=" + sum32 + "\nTRACEPARENT=00-" + sum32 + "-0123456789abcdef-01" +
			"\nMACHINE_ID=" + sum32 + "\nJOB_UUID=" + uuid + "\nWIDGET=" + uuid + "\nSOURCE_DATE_EPOCH=1764201600\nSTAMP=1764201600000000000\nCOLORFGBG=15;0\nLS_OPTIONS=--color=auto" +
			"\nJAVA_HOME=/usr/lib/jvm/java-21-openjdk-amd64\nPYTHONPATH=/a:/b\nKUBECONFIG=/h/.kube/config\nAWS_SHARED_CREDENTIALS_FILE=/h/.aws/credentials\nAWS_REGION=eu-west-1" +
			"\nPOD_NAME=web-5d8f9c7b6-x2x4z\nNAME=internationalization\nCLASS=AbstractSingletonProxyFactoryBean\nRUNNER=ubuntu-latest\nVERSION=1.2.3-rc1\nSEED=42"},
	} {
		for kv := range strings.SplitSeq(c.vars, "\n") {
			if got := len(Withheld([]string{kv}, Settings{})) > 0; got != c.secret {
				t.Errorf("%s: withheld %v", kv, got)
			}
		}
	}
}
