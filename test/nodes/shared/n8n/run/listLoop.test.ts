import { forEachList } from '../../../../../nodes/shared/n8n/run/listLoop';
import { executeContext, InFlight, makeNode, setupEngine } from '../../../../engine';

beforeAll(setupEngine);

test('lists of different items are read at the same time, up to the concurrency', async () => {
	const items = Array.from({ length: 7 }, (_, index) => ({ json: { index } }));
	const inFlight = new InFlight(3);
	const plan = async (index: number) =>
		await Promise.resolve({
			key: index,
			read: async () => {
				await inFlight.enter();
				inFlight.leave();
				return [{ list: index }];
			},
		});
	const done = await forEachList(executeContext(makeNode({ type: 'test.sink' }), items), plan, 3);
	expect(done).toEqual(
		items.map((_, index) => ({ json: { list: index }, pairedItem: [{ item: index }] })),
	);
	expect(inFlight.max).toBe(3);
});
