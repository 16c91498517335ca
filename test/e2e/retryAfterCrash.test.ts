import { CrashBench, type Scene, type RetryResult } from '../long/crash/crashBench';
import { ITEMS, writers, type Writer } from '../long/crash/writers';
import type { N8nServer } from '../n8n/server';
import { removeServer, startServer } from './ownServer';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ALL = '1'.repeat(ITEMS);
const requesting = writers.filter(({ request }) => request !== undefined);

/** Items with a started request are unknown, and the rest is sent, unless it's for the same chat session. */
const expectedResult = ({ name, isOneSession = false }: Writer, before: string): RetryResult => {
	if (isOneSession) return { writer: name, before, after: before, output: 'u'.repeat(ITEMS) };
	const kinds = before.replace(/1/g, 'u').replace(/0/g, 'd');
	// Pushed rows are in the first output, and unknown ones in the second.
	const output = isPush(name) ? [...kinds].sort().join('') : kinds;
	return { writer: name, before, after: ALL, output };
};
const isPush = (name: string) => name.startsWith('Push');

/** Starts its own n8n, because the tests kill it. */
describe('Retry of an interrupted execution', () => {
	let server: N8nServer;
	let bench: CrashBench;

	beforeAll(async () => {
		server = await startServer();
		bench = await CrashBench.start(server);
	});
	afterAll(async () => {
		await bench.simulator.stop();
		await removeServer(server);
	});

	async function retryAll(scenes: readonly Scene[]): Promise<RetryResult[]> {
		const verdicts: RetryResult[] = [];
		for (const scene of scenes) verdicts.push(await bench.retryScene(scene));
		return verdicts;
	}

	it('after a kill, does not repeat started requests, and sends the rest', async () => {
		const middle: Scene[] = [];
		for (const writer of requesting) middle.push(await bench.hangInWriter(writer, CONTINUE));
		const arranged: Scene[] = [];
		for (const arrangement of ['loop', 'sub-workflow', 'sub-workflow for each item'] as const) {
			for (const name of ['Place Call', 'Push, one row a request']) {
				const writer = writers.find((one) => one.name === name);
				if (writer !== undefined)
					arranged.push(await bench.hangInWriter(writer, CONTINUE, arrangement));
			}
		}
		const after = await bench.hangAfterWriters(writers, CONTINUE);
		await server.kill();
		await bench.boot();
		const wanted = middle.map(({ writer, before }) => expectedResult(writer, before));
		expect(await retryAll(middle)).toEqual(wanted);
		const received = (await retryAll(arranged)).map(({ before, after }) => [before, after]);
		expect(received).toEqual(arranged.map(({ before }) => [before, ALL]));
		// Another retry of the same execution, which doesn't know about the first retry.
		const twice = wanted.slice(0, 2).map((one) => ({ ...one, output: 'u'.repeat(ITEMS) }));
		expect(await retryAll(middle.slice(0, 2))).toEqual(twice);
		const verdicts = await bench.retryScenes(after);
		expect(verdicts).toEqual(after.map(({ writer }) => expectedResult(writer, ALL)));
	});

	it('after Stop, does not repeat started requests, and sends the rest', async () => {
		const middle: Scene[] = [];
		for (const writer of requesting) {
			const scene = await bench.hangInWriter(writer, CONTINUE);
			await bench.n8n.request('POST', `/executions/${scene.execution.id}/stop`);
			middle.push(scene);
		}
		expect(await retryAll(middle)).toEqual(
			middle.map(({ writer, before }) => expectedResult(writer, before)),
		);
	});
});
