import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import lowerFirst from 'lodash/lowerFirst';
import uniq from 'lodash/uniq';
import { z } from 'zod';
import { simulatorWithSockets } from '../contract/simulatedNodes';
import { engineHarness, loader } from '../engine';
import { ROOT } from '../engine/sourceLoader';
import { runScene } from '../fuzz/parameters/run';
import { endpointOf } from '../openapi/openapi';
import { writers } from '../long/crash/writers';
import { keysOf, nameOf } from '../schema/schemas';
import { dialects, type Simulator } from '../simulator';
import { isRead, OPERATIONS, SCENES, SOCKET, TRIGGER } from './operations';

const harness = engineHarness();
const simulator = simulatorWithSockets(dialects.plain);

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

/** What was changed, named as in the table. A token for a live connection changes nothing. */
function changesAt({ requests, sessions }: Simulator, sent: unknown[]): string[] {
	const requested = requests
		.filter(({ method, path: url }) => method !== 'GET' && !url.endsWith('/ws_token'))
		.map(({ method, path: url }) => endpointOf(method, url));
	const frames = sessions.frames().map(() => SOCKET);
	const watched = sent.filter((one) => z.object({ secret: z.string() }).safeParse(one).success);
	return uniq([...requested, ...frames, ...watched.map(() => TRIGGER)]);
}

test.each(SCENES.map((scene) => ({ ...scene, shown: JSON.stringify(scene.parameters) })))(
	'$name works, and changes only what the table says: $shown',
	async ({ shown: _shown, ...scene }) => {
		const { sent, message } = await runScene(harness, simulator(), scene, scene.parameters);
		expect(message).toBeUndefined();
		const { sends } = scene;
		expect(changesAt(simulator(), sent)).toEqual(sends === undefined ? [] : [sends]);
	},
);
