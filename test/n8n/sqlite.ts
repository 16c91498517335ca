import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Reads n8n's SQLite database, because the REST API returns pages. */
export function querySqlite(home: string, query: string, ...values: string[]): unknown[] {
	const file = join(home, '.n8n', 'database.sqlite');
	const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
	try {
		return database.prepare(query).all(...values);
	} finally {
		database.close();
	}
}
