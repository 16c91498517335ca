import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedN8n, type N8nFolder } from './shared';

/** What the shared n8n has on this machine. Test files that import this don't run if an n8n of N8N_URL has none. */
export function n8nFolder(): N8nFolder {
	const { folder } = sharedN8n();
	if (folder === undefined) throw new Error('N8N_FOLDER is not set');
	return folder;
}

/** The files in n8n's user folder that contain a text, such as its database and log. */
export async function filesWith(text: string): Promise<string[]> {
	const found: string[] = [];
	const all = await readdir(n8nFolder().home, { recursive: true, withFileTypes: true });
	for (const entry of all) {
		const path = join(entry.parentPath, entry.name);
		if (!entry.isFile() || path.includes('node_modules')) continue;
		if ((await readFile(path)).includes(text)) found.push(path);
	}
	return found;
}
