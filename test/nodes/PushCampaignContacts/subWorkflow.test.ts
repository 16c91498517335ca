import type { INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, ParentExecution, service, skipSleeps } from '../../engine';
import { accepted, PATH, phone, phonesOf, pushNode, remembering } from './pushHarness';

const harness = engineHarness();
afterEach(() => jest.restoreAllMocks());

const rowsOf = (...numbers: Array<number | '-'>) =>
	numbers.map((n) => ({ json: { phone: n === '-' ? n : phone(n) } }));

type Batches = INodeExecutionData[][];

/** Pushes each batch in a sub-workflow. The parent is killed, and retried. Returns the numbers that were pushed. */
async function pushAndRetry(batches: Batches, batchesOfRetry: Batches): Promise<unknown[]> {
	skipSleeps();
	const bodies: JsonObject[] = [];
	service()
		.post(PATH, remembering(bodies))
		.optionally()
		.times(batches.length + batchesOfRetry.length)
		.reply(200, accepted(2));
	const parent = new ParentExecution(harness.credentials);
	const node = pushNode(harness, {}, { onError: 'continueRegularOutput' });
	for (const batch of batches) await parent.run(node, batch);
	parent.retry();
	for (const batch of batchesOfRetry) await parent.run(node, batch);
	return bodies.flatMap(phonesOf);
}

test.each<[string, Batches, Batches, number[]]>([
	[
		'no row again if a row was inserted above the others',
		[rowsOf(0, 1), rowsOf(2, 3)],
		[rowsOf(9, 0), rowsOf(1, 2), rowsOf(3, 4)],
		[0, 1, 2, 3],
	],
	[
		'no row again if a batch of invalid rows was removed',
		[rowsOf('-', '-'), rowsOf(0, 1)],
		[rowsOf(9, 0), rowsOf(1)],
		[0, 1],
	],
	[
		'the batches that had not begun, if the rows are the same',
		[rowsOf(0, 1)],
		[rowsOf(0, 1), rowsOf(2, 3)],
		[0, 1, 2, 3],
	],
])('a retry with a sub-workflow per batch pushes %s', async (_what, batches, now, once) => {
	expect(await pushAndRetry(batches, now)).toEqual(once.map(phone));
});
