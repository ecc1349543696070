"""Spellings of secrets, as files of real tools and sentences have them, and look-alikes.

`{...}` stands for characters that are drawn at run time, so that no scanner takes this file for a
leak: `{hex:32}`, `{up:27}` (capitals and digits), `{low:32}`, `{any:36}`, `{b64:40}`, `{url:43}`
(letters, digits, `-` and `_`), `{num:10}`, `{uuid}`, `{jwt}`, `{pem}` and `{pw}`, a password that a
person would choose.
"""

import base64
import random
import re
import string
import uuid

from tests.support.more_spellings import MORE

_LETTERS = string.ascii_letters + string.digits
_SETS = {
    "hex": "0123456789abcdef",
    "up": string.ascii_uppercase + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "any": _LETTERS,
    "b64": _LETTERS + "+/",
    "url": _LETTERS + "-_",
    "b32": string.ascii_uppercase + "234567",
    "crypt": _LETTERS + "./",
    "num": string.digits,
    "letters": string.ascii_letters,
}
_PASSWORDS = (
    "hunter2hunter2",
    "s3cretpw99",
    "Tr0ub4dor&3",
    "kX9#mPq2vL",
    "winter-2024-sunrise",
    "pr0d-Db!77",
    "9fKq27LmZx",
    "blue42Horse!",
    "Zx81-qwerty77",
    "m0rning_Glory5",
)

SPELLINGS = {
    # Tokens of hosts and services.
    "GitHub classic": "ghp_{any:36}",
    "GitHub OAuth": "export GH=gho_{any:36}",
    "GitHub user": "ghu_{any:36} works",
    "GitHub app, old": "the token ghs_{any:36}.",
    "GitHub app, new": "ghs_{num:7}_{jwt}",
    "GitHub app, dots": "GITHUB_TOKEN=ghs_{any:8}.{any:30}-{any:20}_{any:40}",
    "GitHub refresh": "ghr_{any:36}",
    "GitHub refresh, underscores": "ghr_{any:20}_{any:20}_{any:36}",
    "GitHub fine-grained": "github_pat_{any:22}_{any:59}",
    "GitHub in an address": "git clone https://x-access-token:ghs_{any:36}@github.com/o/r.git",
    "GitLab": "glpat-{url:20}",
    "GitLab runner": "glrt-{url:20}",
    "GitLab deploy": "gldt-{url:20}",
    "npm": "npm_{any:36}",
    "PyPI": "pypi-AgEIcHlwaS5vcmc{url:80}",
    "RubyGems": ":rubygems_api_key: rubygems_{hex:48}",
    "crates.io": "cio{any:32}",
    "NuGet": "oy2{low:43}",
    "Docker Hub": "docker login -u me -p dckr_pat_{url:27}",
    "Anthropic": "sk-ant-api03-{url:93}AA",
    "OpenAI": "sk-proj-{any:20}T3BlbkFJ{any:20}",
    "OpenAI, old": "sk-{any:48}",
    "OpenRouter": "sk-or-v1-{hex:64}",
    "DeepSeek": "sk-{hex:32}",
    "Hugging Face": "hf_{letters:34}",
    "Groq": "gsk_{any:52}",
    "xAI": "xai-{any:80}",
    "Replicate": "r8_{any:37}",
    "Perplexity": "pplx-{any:48}",
    "Google API": "AIza{url:35}",
    "Google OAuth": "GOCSPX-{url:28}",
    "Google access": "ya29.a0{url:120}",
    "Google refresh": "refresh 1//0{url:60}",
    "AWS id": "AKIA{b32:16}",
    "AWS session id": "ASIA{b32:16}",
    "Azure AD": "{any:3}8Q~{url:34}",
    "Alibaba": "LTAI5t{any:18}",
    "DigitalOcean": "dop_v1_{hex:64}",
    "Heroku": "HRKU-{url:60}",
    "Fly": "fo1_{url:43}",
    "Cloudflare CA": "v1.0-{hex:24}-{hex:146}",
    "Databricks": "dapi{hex:32}",
    "Doppler": "dp.st.dev.{any:43}",
    "Vault": "VAULT: hvs.{url:90}",
    "Vault, old": "vault token s.{any:24}",
    "Terraform Cloud": "{any:14}.atlasv1.{url:67}",
    "Pulumi": "pul-{hex:40}",
    "Stripe": "sk_live_{any:24}",
    "Stripe test": "sk_test_{any:40}",
    "Stripe restricted": "rk_live_{any:24}",
    "Stripe webhook": "whsec_{any:32}",
    "Square": "sq0csp-{url:43}",
    "Shopify": "shpat_{hex:32}",
    "Twilio": "SK{hex:32}",
    "SendGrid": "SG.{url:22}.{url:43}",
    "Mailgun": "key-{hex:32}",
    "Mailchimp": "{hex:32}-us14",
    "Brevo": "xkeysib-{hex:64}-{any:16}",
    "Slack bot": "xoxb-{num:12}-{num:12}-{any:24}",
    "Slack app": "xapp-1-A{up:10}-{num:13}-{hex:64}",
    "Slack webhook": "https://hooks.slack.com/services/T{up:8}/B{up:8}/{any:24}",
    "Discord webhook": "https://discord.com/api/webhooks/{num:18}/{url:68}",
    "Discord bot": "{discord}",
    "Telegram": "{num:10}:AA{url:33}",
    "Teams webhook": (
        "https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}"
    ),
    "Atlassian": "ATATT3xFfGF0{url:180}",
    "Bitbucket": "ATBB{any:32}",
    "Linear": "lin_api_{any:40}",
    "Notion": "ntn_{num:11}{any:35}",
    "Notion, old": "secret_{any:43}",
    "Airtable": "pat{any:14}.{hex:64}",
    "Figma": "figd_{url:40}",
    "Postman": "PMAK-{hex:24}-{hex:34}",
    "Sentry": "sntrys_{b64:100}",
    "Grafana": "glsa_{any:32}_{hex:8}",
    "New Relic": "NRAK-{up:27}",
    "Dynatrace": "dt0c01.{b32:24}.{b32:64}",
    "Sonar": "squ_{hex:40}",
    "Tailscale": "tskey-auth-{any:12}CNTRL-{any:32}",
    "HubSpot": "pat-na1-{uuid}",
    "Supabase": "sbp_{hex:40}",
    "PlanetScale": "pscale_pw_{url:43}",
    "1Password key": "A3-{up:6}-{up:6}-{up:5}-{up:5}-{up:5}-{up:5}",
    "1Password": "ops_eyJ{any:260}",
    "age": "AGE-SECRET-KEY-1{age:58}",
    "JWT": "{jwt}",
    "JWT behind a prefix": "v2_session_{jwt}",
    # Files.
    "PEM": "-----BEGIN RSA " + "PRIVATE KEY-----\n{pem}\n-----END RSA " + "PRIVATE KEY-----",
    "OpenSSH": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n{pem}",
    "PGP": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n{pem}",
    "PuTTY": "PuTTY-User-Key-File-3: rsa\nPrivate-Lines: 1\n{b64:48}\nPrivate-MAC: {hex:64}",
    "WireGuard": "[Interface]\nPrivateKey = {b64:43}=\nAddress = 10.0.0.2/24",
    "~/.aws/credentials": "[default]\naws_secret_access_key = {b64:40}",
    "~/.aws, session": "aws_session_token = IQoJb3JpZ2luX2Vj{b64:200}==",
    ".npmrc": "//npm.example.com/:_authToken={uuid}",
    ".npmrc, password": "//reg.example.com/:_password=czNj{any:18}==",
    ".npmrc, auth": "_auth = dXNlcjp{any:20}=",
    "docker config": '{{"auths": {{"index.docker.io": {{"auth": "dXNlcjpz{any:20}=="}}}}}}',
    ".netrc": "machine api.example.com\n  login me\n  password {pw}",
    ".netrc, one line": "machine api.example.com login me password {any:20}",
    ".pgpass": "db.example.com:5432:app:admin:{pw}",
    ".git-credentials": "https://me:{any:20}@git.example.com",
    ".pypirc": "[pypi]\nusername = __token__\npassword = pypi-{url:60}",
    ".pypirc, own index": "[internal]\nusername: ci\npassword: {pw}",
    ".env": "DATABASE_PASSWORD={pw}",
    ".env, quoted": 'SMTP_PASS="{pw}"',
    ".env, key": "APP_KEY=base64:{b64:43}=",
    ".env, lower case": "db_password={pw}",
    "kubeconfig": "users:\n- name: admin\n  user:\n    token: {any:40}",
    "kubeconfig key": "    client-key-data: LS0tLS1CRUdJTi{b64:120}",
    "kubernetes secret": "kind: Secret\ndata:\n  password: {secret64}",
    "compose": "environment:\n  - POSTGRES_PASSWORD={pw}",
    "compose, map": "environment:\n  MYSQL_ROOT_PASSWORD: {pw}",
    "Spring": "spring.datasource.password={pw}",
    "Django": "SECRET_KEY = 'django-insecure-{any:40}'",
    "Rails": "secret_key_base: {hex:128}",
    "Laravel": "DB_PASSWORD={pw}",
    "WordPress": "define('DB_PASSWORD', '{pw}');",
    "PHP array": "'password' => '{pw}',",
    "Maven": "<server><id>x</id><username>me</username><password>{pw}</password></server>",
    "Gradle": "signing.keyPassword={pw}",
    "Terraform": 'variable "db" {{\n  password = "{pw}"\n}}',
    "tfvars": 'api_token = "{url:40}"',
    "Ansible": "ansible_ssh_pass: {pw}",
    "JSON": '{{"user": "admin", "password": "{pw}"}}',
    "JSON, token": '{{"accessToken": "{url:40}"}}',
    "JSON, client secret": '{{"installed": {{"client_secret": "{url:24}"}}}}',
    "YAML": "smtp:\n  user: me\n  password: {pw}\n",
    "YAML, quoted": "secret: '{hex:40}'",
    "TOML": '[auth]\ntoken = "{hex:40}"',
    "GCP service account": '{{"type": "service_account", "private_key_id": "{hex:40}"}}',
    "Azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b64:86}==;"
        "EndpointSuffix=core.windows.net"
    ),
    "Azure service bus": (
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b64:43}="
    ),
    "Azure SAS": "https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={b64:40}%3D",
    "SQL Server": "Server=db;Database=app;User Id=sa;Password={pw};Encrypt=true",
    "JDBC": "jdbc:postgresql://db/app?user=me&password={pw}",
    "PostgreSQL": "postgres://app:{any:16}@db.internal:5432/app",
    "MySQL": "DATABASE_URL=mysql://root:s3cretpw99@db/app",
    "Redis": "redis://:s3cretpw99@cache.internal:6379/0",
    "MongoDB": "mongodb+srv://app:{any:16}@cluster0.example.mongodb.net/app",
    "AMQP": "amqp://guest2:{any:12}@mq.internal:5672/vhost",
    "SMTP": "smtps://me%40example.com:{any:12}@smtp.example.com:465",
    "Sentry DSN": "https://{hex:32}:{hex:32}@sentry.example.com/4",
    "shadow": "root:$6$q9LmZx8d$" + "{crypt:86}:19000:0:99999:7:::",
    "htpasswd": "admin:$apr1$k3JqLmZx$" + "{crypt:22}",
    "bcrypt": "$2b$12$" + "{crypt:53}",
    "otpauth": "otpauth://totp/Acme:me?secret={b32:32}&issuer=Acme",
    "Datadog": "DD_API_KEY={hex:32}",
    "Heroku key": "HEROKU_API_KEY={uuid}",
    "Cloudflare": "CLOUDFLARE_API_TOKEN={url:40}",
    "Jenkins": "<apiToken>11{hex:32}</apiToken>",
    # Commands.
    "Bearer": "curl -H 'Authorization: Bearer {url:40}' https://api.example.com",
    "Basic": "Authorization: Basic dXNlcjpz{any:20}==",
    "API key header": 'curl -H "X-Api-Key: {any:32}" https://api.example.com',
    "GitLab header": "PRIVATE-TOKEN: {any:20}",
    "curl": "curl -u admin:{pw} https://api.example.com",
    "mysql": "mysql -u root -p{any:14} app",
    "sshpass": "sshpass -p '{pw}' ssh me@host",
    "long option": "deploy --password {pw} --yes",
    "long option, equals": "helm repo add x https://x --username me --password={pw}",
    "token option": "vercel deploy --token {any:24}",
    "PGPASSWORD": "PGPASSWORD={pw} psql -h db",
    "export": "export SECRET_KEY='{pw}'",
    "PowerShell": "$env:AZURE_CLIENT_SECRET = '{url:40}'",
    "setx": "setx API_KEY {any:32}",
    "SQL": "CREATE USER app WITH PASSWORD '{pw}';",
    "SQL, identified": "ALTER USER 'root'@'%' IDENTIFIED BY '{pw}';",
    "cookie": "Cookie: sessionid={low:32}; csrftoken={any:32}",
    # Code.
    "Python": 'client = connect(user="me", password="{pw}")',
    "Python, constant": "API_TOKEN = '{url:32}'",
    "Python, dict": "config['secret'] = '{any:24}'",
    "JavaScript": "const apiKey = '{any:32}';",
    "JavaScript, object": "{{ user: 'me', password: '{pw}' }}",
    "Go": 'token := "{any:32}"',
    "Java": 'private static final String PASSWORD = "{pw}";',
    "C#": 'var clientSecret = "{url:34}";',
    # Sentences.
    "a sentence": "The password is {pw}, use it for staging.",
    "a sentence with a colon": "Login for the demo: user admin, password: {pw}",
    "a sentence with quotes": "I set the API key to `{any:32}` for now.",
    "a sentence about a token": "Use token {any:32} when you call it.",
    "a sentence about a secret": "The client secret is {url:32}.",
    "a pass phrase": "passphrase: {pw}",
    "German": "Passwort: {pw}",
    "pw": "pw: {pw}",
    "user and password": "Credentials: admin / {pw}",
}

LOOK_ALIKES = (
    "password: ${DB_PASSWORD}",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password: $DB_PASSWORD_2",
    "token = os.environ['API_TOKEN_V2']",
    'token = os.getenv("TOKEN_V2")',
    "token: <your-token-1>",
    "password: changeme",
    "password=changeme123",
    "def login(user: str, password: str) -> None:",
    "token = get_token()",
    "token = await client.get_token(scope=2)",
    "self.token = token2",
    "secret = self._secrets[0]",
    "password = getpass.getpass()",
    "token: Optional[str] = None",
    "const token = await getToken(user1);",
    "password: z.string().min(8)",
    "API_KEY=your_api_key_1",
    "password: process.env.DB_PASSWORD2",
    '"password": "********"',
    "password=xxxxxxxx1",
    '"token": null,',
    "token: {{ .Values.token }}",
    "secret: /run/secrets/db1",
    "password_file: /a/b1",
    "secretName: my-secret-2",
    "token_url: https://example.com/oauth2/token",
    "max_tokens=100000",
    "The password must have 12 characters.",
    "Passwords are hashed with argon2id.",
    "the token ghp_… begins every classic one",
    "tokens: 12345",
    "token type: ERC20v1",
    "ghp_agents.handoffs.service.HandoffFacts.about",
    "sk-loading-spinner-with-a-very-long-name-for-a-class",
    "see https://example.com/a?token=abc",
    "https://user@example.com/repo.git",
    "http://localhost:8080/@scope/package@1.2.3",
    "postgres://user:password@localhost/db",
    "postgres://user:$PASSWORD@db/x",
    "tokenizer: bert2base",
    "sha256:" + "0123456789abcdef" * 4,
    "integrity sha512-" + "aB3+" * 21 + "aa==",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "SECRET_NAME = 'prod/db/v1'",
    "password = form.cleaned_data['password1']",
    "key: ctrl+shift+p",
    "primary key: id1",
    "if token == TOKEN_V2:",
    "token=tokens[1]",
    "passwd2 = passwd1",
    "secrets: inherit",
    "authorization: Bearer ${TOKEN1}",
    "Authorization: Bearer <token1>",
    "api_key = API_KEY_V1",
    "with the key a1b2 in the map",
    "password: string; // 8 to 64",
    "Use `token1` and `token2`.",
    'BEGIN = b"-----BEGIN OPENSSH PRIVATE KEY-----"\nEND = b"-----END OPENSSH PRIVATE KEY-----"',
    'key="-----BEGIN PRIVATE KEY-----\\nXXXX\\nXXXX\\n-----END PRIVATE KEY-----"',
    "a file with '-----BEGIN RSA PRIVATE KEY-----' and more",
    "key = x25519.X25519PrivateKey.generate()",
    'FLAG_KEY = "acme-oss-notices2"',
    'PROJECT_API_KEY = "phc_hgJkUVJFYtmaJqrvf6CYN67TIQ8yhXAkWzUn9AMU4yX"',
    'publicKeyToken="1fc8b3b9a1e18e3b"',
    'verify_token="eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..."',
    "https://jo%40email.com:a%20secret@example.com/",
    "git://[path-to-repo[:]][ref@]path/to/file",
    "MultiHostUrl('https://foo.com:123,foo:bar@example.com')",
    "machine host.example.com login me password pass1",
    "https://user:pa%40ss@example.com",
    '"dsn": "localhost:1521/freepdb1"',
    "('user', 'password', 'www.example.com:8080')",
    '"AWS::IAM::AccessKey": "62d91b17309e76c8"',
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:Database1-a1b2c3",
    '"NextContinuationToken": "1w41l63U0xa8q7smH50vCxyTQqdxo69O3EmK28Bi5PcROI4w"',
    '"clientRequestToken": "1d2129a1-3d38-460a-9756-e5b91fddb951"',
    '"AccessKeyId": "AKIA" "IOSFODNN7EXAMPLE"'.replace('" "', ""),
    "Credential: win32typing.PyCredHandle2",
    "#define CKO_PRIVATE_KEY 0x00000003UL",
    "Passwords are stored with pbkdf2_sha256 and 600000 rounds.",
    "Use sha256 as the secret key's digest.",
    "Basic authentication is off.",
    "| token | ERC20 |",
    "cat token | base64 | sha256sum",
    "docker run -p 127.0.0.1:8080:80 registry login",
    "name: API_TOKEN\nvalue: $API_TOKEN_2",
    "passwords = load_passwords_v2024",
    "The password is test1234.",
    "git clone https://example.com:8443/@scope/name@v2",
)


def spelled(seed: int = 34) -> dict[str, str]:
    """Each spelling with characters drawn by `seed`."""
    return {
        name: _filled(text, random.Random(f"{seed} {name}"))
        for name, text in (SPELLINGS | MORE).items()
    }


def _filled(text: str, draw: random.Random) -> str:
    """The spelling with random characters in the place of each `{…}`."""
    filled = re.sub(r"(?<!\{)\{(\w+)(?::(\d+))?\}", lambda found: _drawn(found, draw), text)
    return filled.replace("{{", "{").replace("}}", "}")


def _drawn(found: re.Match[str], draw: random.Random) -> str:
    kind, length = found[1], int(found[2] or 0)
    if kind == "pw":
        return draw.choice(_PASSWORDS)
    if kind == "uuid":
        return str(uuid.UUID(int=draw.getrandbits(128), version=4))
    if kind == "age":
        return _some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", length, draw)
    if kind == "jwt":
        return f"eyJ{_some(_LETTERS, 33, draw)}.eyJ{_some(_LETTERS, 80, draw)}." + _some(
            _SETS["url"], 43, draw
        )
    if kind == "priv":
        return "PRIVATE KEY"
    if kind == "pem":
        return "\n".join(_some(_SETS["b64"], 64, draw) for _ in range(3))
    if kind == "secret64":
        return base64.b64encode(_some(_LETTERS, 13, draw).encode()).decode()
    if kind == "discord":
        user = base64.b64encode(_some("123456789", 18, draw).encode()).decode()
        return f"{user}.G{_some(_LETTERS, 5, draw)}.{_some(_SETS['url'], 38, draw)}"
    return _some(_SETS[kind], length, draw)


def _some(letters: str, length: int, draw: random.Random) -> str:
    return "".join(draw.choice(letters) for _ in range(length))
