import range from 'lodash/range';
import { openStore, useDatabase } from '../../../../../nodes/shared/n8n/once/rememberedTexts';
import { failureForModel } from '../../../../../nodes/shared/n8n/tools/toolResult';
import { engineHarness, executeContext, useNoWaits } from '../../../../engine';

const harness = engineHarness();
useNoWaits();

/** A store with this many texts, and how many of them n8n removes together. */
function storeOf(size: number) {
	const context = executeContext(harness.node('placeCall'), [{ json: {} }]);
	const removed: string[][] = [];
	jest.spyOn(context.helpers, 'getProcessedDataCount').mockResolvedValue(size);
	jest.spyOn(context.helpers, 'removeProcessed').mockImplementation(async (texts) => {
		removed.push(texts.map(String));
		await Promise.resolve();
	});
	const store = openStore(context, 'node', { message: '', description: '' });
	return { store, removed };
}

const texts = (count: number) => range(count).map((nth) => `text ${nth}`);

test.each([
	[0, 3, [3]],
	[100, 3, [3]],
	// n8n compares each text with the whole set: 50 million comparisons in a batch.
	[1_000_000, 120, [50, 50, 20]],
	[1_000_000, 100, [50, 50]],
	[100_000_000, 2, [1, 1]],
	[5, 0, []],
])('from a set of %i, %i texts are removed in parts of %j', async (size, count, parts) => {
	const { store, removed } = storeOf(size);
	await store.remove(texts(count));
	expect(removed.map(({ length }) => length)).toEqual(parts);
	expect(removed.flat()).toEqual(texts(count));
});

test('texts are looked up without adding them, also if the database is locked for a moment', async () => {
	const context = executeContext(harness.node('placeCall'), [{ json: {} }]);
	const store = openStore(context, 'workflow', { message: '', description: '' });
	await store.add(['a', 'b']);
	let failures = 0;
	harness.store.beforeCall = (call) => {
		if (call.startsWith('remove') && ++failures <= 2) throw new Error('SQLITE_BUSY');
	};
	expect(await store.find(['b', 'c', 'd'], 'mark')).toEqual(['b']);
	expect(harness.store.size).toBe(2);
	expect(await store.find(['c', 'a'], 'mark')).toEqual(['a']);
});

test("a model can't resolve that n8n's database is unavailable", async () => {
	const locked = async () => await Promise.reject(new Error('SQLITE_BUSY'));
	const use = { message: 'Nothing was sent', description: 'Check the database.' };
	const error: unknown = await useDatabase(use, locked).catch((thrown: unknown) => thrown);
	const context = executeContext(harness.node('placeCall'), []);
	expect(failureForModel(context, error)).toMatch(
		/^Nothing was sent \(SQLITE_BUSY\)\. Tell the user /,
	);
});
