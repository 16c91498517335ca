import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ROOT } from '../engine/sourceLoader';

const entry = z.object({
	integrity: z.string().optional(),
	resolved: z.string().optional(),
	optional: z.boolean().optional(),
	os: z.array(z.string()).optional(),
	cpu: z.array(z.string()).optional(),
});
const { packages } = z
	.object({ packages: z.record(entry) })
	.parse(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')));
const entries = Object.entries(packages).filter(([name]) => name !== '');
const NEEDED = { os: 'linux', cpu: ['x64', 'arm64'] };

test('the lockfile names no download URLs, so that it works with every registry', () => {
	expect(entries.length).toBeGreaterThan(1_000);
	expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('only optional binaries for machines that no workflow has are without a checksum', () => {
	const unchecked = entries.filter(([, { integrity }]) => integrity === undefined);
	const needed = unchecked.filter(
		([, { optional, os = [], cpu = [] }]) =>
			optional !== true ||
			os.length === 0 ||
			(os.includes(NEEDED.os) && NEEDED.cpu.some((name) => cpu.includes(name))),
	);
	expect(needed.map(([name]) => name)).toEqual([]);
});
