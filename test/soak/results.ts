import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';

const file = join(__dirname, 'results.json');
const stored = z.record(z.string(), z.unknown());

/** Writes the figures of a soak test to `results.json`. Those of the others stay. */
export async function saveResults(name: string, figures: object): Promise<void> {
	const known = stored.parse(JSON.parse(readFileSync(file, 'utf8')));
	const text = JSON.stringify({ ...known, [name]: figures }, null, '\t');
	writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
