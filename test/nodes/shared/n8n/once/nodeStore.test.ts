import { NotSent } from '../../../../../nodes/shared/api/errors';
import {
	runExclusiveOnStore,
	nodeKeyOf,
	openNodeStore,
} from '../../../../../nodes/shared/n8n/once/nodeStore';
import { engineHarness, mcpContext } from '../../../../engine';

const harness = engineHarness();
const USE = { message: "n8n can't note it", description: 'Ask your n8n administrator.' };

const contextOf = (name: string) =>
	mcpContext(harness.credentials, harness.node('placeCall', { id: `id-${name}` }), 'session');

test('stores an added text once, and removes a text', async () => {
	const store = openNodeStore(contextOf('a'), USE);
	expect(await store.add(['1', '2'])).toEqual(['1', '2']);
	expect(await store.add(['2', '3'])).toEqual(['3']);
	expect(await store.count()).toBe(3);
	await store.remove(['2']);
	expect(await store.add(['1', '2', '3'])).toEqual(['2']);
	await store.clear();
	expect(await store.count()).toBe(0);
});

test('removes the oldest texts only if a maximum is given', async () => {
	const store = openNodeStore(contextOf('a'), USE);
	await store.add(['1', '2', '3']);
	await store.add(['4']);
	expect(await store.count()).toBe(4);
	await store.add(['5'], 2);
	expect(await store.count()).toBe(2);
	expect(await store.add(['4', '5'])).toEqual([]);
});

test.each<[unknown, string]>([
	[new Error('database is locked'), 'database is locked'],
	['no connection', 'no connection'],
])('if n8n fails with %p, nothing is sent, and the error contains it', async (error, cause) => {
	const store = openNodeStore(contextOf('a'), USE);
	harness.store.beforeCall = () => {
		throw error;
	};
	for (const use of [
		async () => await store.add(['1']),
		async () => await store.remove(['1']),
		async () => await store.clear(),
		async () => await store.count(),
	]) {
		const using = use();
		await expect(using).rejects.toBeInstanceOf(NotSent);
		await expect(using).rejects.toMatchObject({
			message: USE.message,
			resolution: USE.description,
			originalMessage: cause,
			origin: 'n8n',
		});
	}
});

test('users of one store run one after another, also after a failure, and other stores do not wait', async () => {
	expect(nodeKeyOf(contextOf('a'))).not.toBe(nodeKeyOf(contextOf('b')));
	const steps: string[] = [];
	let release = () => {};
	const first = runExclusiveOnStore(contextOf('a'), async () => {
		steps.push('first');
		await new Promise<void>((resolve) => (release = resolve));
		throw new Error('broke');
	});
	const second = runExclusiveOnStore(contextOf('a'), async () => {
		steps.push('second');
		return await Promise.resolve(2);
	});
	await runExclusiveOnStore(contextOf('b'), async () => {
		steps.push('other');
		await Promise.resolve();
	});
	expect(steps).toEqual(['first', 'other']);
	release();
	await expect(first).rejects.toThrow('broke');
	expect(await second).toBe(2);
	expect(steps).toEqual(['first', 'other', 'second']);
});
