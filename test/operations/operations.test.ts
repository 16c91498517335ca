import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import lowerFirst from 'lodash/lowerFirst';
import uniq from 'lodash/uniq';
import { z } from 'zod';
import { loader, setupAllNodes } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { writers } from '../long/crash/writers';
import { keysOf, nameOf } from '../schema/schemas';
import { isRead, OPERATIONS, SCENES, TRIGGER } from './operations';

beforeAll(setupAllNodes);

test('the table has every operation of every node, and no other', () => {
	const actions = loader.types.nodes.filter(({ group }) => !group.includes('trigger'));
	expect(Object.keys(OPERATIONS).sort()).toEqual(keysOf(actions).map(nameOf).sort());
});

/** The objects of operations, in the files of the nodes. */
const objects = globSync('nodes/*/operations/*.operation.ts', { cwd: ROOT }).flatMap((file) => {
	const node = path.basename(path.resolve(ROOT, file, '../..'));
	const exported = z.record(z.unknown()).parse(createRequire(__filename)(path.join(ROOT, file)));
	return Object.values(exported).flatMap((value) => {
		const { data } = z
			.object({
				// A node with one operation doesn't name it.
				value: z.string().optional(),
				toolDescription: z.string(),
				isReadOnly: z.boolean().optional(),
			})
			.safeParse(value);
		if (data === undefined) return [];
		const { value: operation, isReadOnly } = data;
		const name = nameOf({ node: lowerFirst(node), ...(operation !== undefined && { operation }) });
		return [{ name, isReadOnly: isReadOnly === true }];
	});
});

test('an operation is read-only if it changes nothing in the service', () => {
	expect(objects.map(({ name }) => name).sort()).toEqual(Object.keys(OPERATIONS).sort());
	expect(objects.filter(({ name, isReadOnly }) => isReadOnly !== isRead(name))).toEqual([]);
});

test('each way to change something is interrupted in test/long/crash', () => {
	const changes = SCENES.filter(({ sends = TRIGGER }) => sends !== TRIGGER);
	const interrupted = writers.map(({ operation, sends }) => `${operation}, ${sends}`);
	const expected = changes.map(({ name, sends }) => `${name}, ${String(sends)}`);
	expect(uniq(interrupted).sort()).toEqual(uniq(expected).sort());
});
