import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ROOT } from '../engine/sourceLoader';

const entry = z.object({
	integrity: z.string().optional(),
	resolved: z.string().optional(),
});
const { packages } = z
	.object({ packages: z.record(entry) })
	.parse(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')));
const entries = Object.entries(packages).filter(([name]) => name !== '');

test('the lockfile names no download URLs, so that it works with every registry', () => {
	expect(entries.length).toBeGreaterThan(1_000);
	expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('every package has a checksum', () => {
	const unchecked = entries.filter(([, { integrity }]) => integrity === undefined);
	expect(unchecked.map(([name]) => name)).toEqual([]);
});
