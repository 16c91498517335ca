import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFormatted } from '../bench/report';

const file = join(__dirname, 'results.json');
const stored = z.record(z.string(), z.unknown());

/** Writes the figures of a run to `results.json`. Those of the others stay. */
export async function saveResults(name: string, figures: object): Promise<void> {
	const known = stored.parse(JSON.parse(readFileSync(file, 'utf8')));
	await writeFormatted(file, JSON.stringify({ ...known, [name]: figures }, null, '\t'));
}
