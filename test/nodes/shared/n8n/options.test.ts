import { z } from 'zod';
import { readConcurrency } from '../../../../nodes/shared/n8n/options';
import type { NodeParameters } from '../../../../nodes/shared/n8n/nodeParameters';

test.each<[unknown, number]>([
	[undefined, 5],
	[1, 1],
	['7', 7],
	[2.9, 2],
	[0, 1],
	[-3, 1],
	[100, 100],
	[101, 100],
	[Infinity, 100],
	['many', 5],
])('Concurrency %p: %i at once', (value, expected) => {
	const parameters = z.custom<NodeParameters>().parse({ value: () => value });
	expect(readConcurrency(parameters, 5)).toBe(expected);
});
