// n8n reads its settings as it is loaded, so this must be imported before anything of it.
process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
