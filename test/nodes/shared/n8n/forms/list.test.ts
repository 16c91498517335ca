import { sleep } from 'n8n-workflow';
import { forEachList } from '../../../../../nodes/shared/n8n/forms/list';
import { executeContext, makeNode, setupEngine } from '../../../../engine';

beforeAll(setupEngine);

test('lists of different items are read at the same time, up to the concurrency', async () => {
	const items = Array.from({ length: 7 }, (_, index) => ({ json: { index } }));
	let underWay = 0;
	let max = 0;
	const plan = async (index: number) =>
		await Promise.resolve({
			key: index,
			read: async () => {
				max = Math.max(max, ++underWay);
				await sleep(5);
				underWay--;
				return [{ list: index }];
			},
		});
	const done = await forEachList(executeContext(makeNode({ type: 'test.sink' }), items), plan, 3);
	expect(done).toEqual(
		items.map((_, index) => ({ json: { list: index }, pairedItem: [{ item: index }] })),
	);
	expect(max).toBe(3);
});
