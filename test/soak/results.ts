import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const file = join(__dirname, 'results.json');
const stored = z.record(z.string(), z.unknown());

/** Writes the figures of a soak test to `results.json`. Those of the others stay. */
export function saveResults(name: string, figures: object): void {
	const known = stored.parse(JSON.parse(readFileSync(file, 'utf8')));
	writeFileSync(file, `${JSON.stringify({ ...known, [name]: figures }, null, '\t')}\n`);
}
