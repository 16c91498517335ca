const path = require('node:path');

// Must run before n8n-core / @n8n/config is first required, hence setupFiles.
process.env.N8N_USER_FOLDER = path.join(
	__dirname,
	`../../node_modules/.cache/n8n-${process.env.JEST_WORKER_ID}`,
);
process.env.N8N_ENCRYPTION_KEY = 'jest-encryption-key';
process.env.N8N_LOG_LEVEL = 'silent';
for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']) {
	delete process.env[name];
	delete process.env[name.toLowerCase()];
}
