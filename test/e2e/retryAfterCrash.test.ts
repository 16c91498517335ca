import { CrashBench, type Scene, type Verdict } from '../crash/crashBench';
import { ITEMS, writers, type Writer } from '../crash/writers';
import type { N8nServer } from '../n8n/server';
import { dialects, startSimulator, type Simulator } from '../simulator';
import { removeServer, startServer } from './ownServer';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ALL = '1'.repeat(ITEMS);
const requesting = writers.filter(({ request }) => request !== undefined);

/** What was begun is unknown, and the rest is sent. */
const asItMustBe = ({ name }: Writer, before: string): Verdict => {
	const kinds = before.replace(/1/g, 'u').replace(/0/g, 'd');
	// What was pushed comes from the first output, and what is unknown from the second.
	const output = isPush(name) ? [...kinds].sort().join('') : kinds;
	return { writer: name, before, after: ALL, output };
};
const isPush = (name: string) => name.startsWith('Push');

/** A server of its own, because it is killed here. */
describe('Retry of an execution that n8n did not end itself', () => {
	let server: N8nServer;
	let simulator: Simulator;
	let bench: CrashBench;

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain });
		bench = await CrashBench.start(server, simulator);
	}, 180_000);
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	async function retriedOnce(scenes: readonly Scene[]): Promise<Verdict[]> {
		const verdicts: Verdict[] = [];
		for (const scene of scenes) verdicts.push(await bench.retried(scene));
		return verdicts;
	}

	it('after a kill, what was begun is not sent again, and the rest is', async () => {
		const middle: Scene[] = [];
		for (const writer of requesting) middle.push(await bench.inTheMiddle(writer, CONTINUE));
		const arranged: Scene[] = [];
		for (const arrangement of ['loop', 'sub-workflow', 'sub-workflow for each item'] as const) {
			for (const name of ['Place Call', 'Push, one row a request']) {
				const writer = writers.find((one) => one.name === name);
				if (writer !== undefined)
					arranged.push(await bench.inTheMiddle(writer, CONTINUE, arrangement));
			}
		}
		const after = await bench.afterwards(writers, CONTINUE);
		await server.kill();
		await bench.boot();
		const wanted = middle.map(({ writer, before }) => asItMustBe(writer, before));
		expect(await retriedOnce(middle)).toEqual(wanted);
		const received = (await retriedOnce(arranged)).map(({ before, after }) => [before, after]);
		expect(received).toEqual(arranged.map(({ before }) => [before, ALL]));
		// The same execution again, which knows nothing of what its first retry did.
		const twice = wanted.map((verdict) => ({ ...verdict, output: 'u'.repeat(ITEMS) }));
		expect(await retriedOnce(middle)).toEqual(twice);
		const verdicts = await bench.retriedTogether(after);
		expect(verdicts).toEqual(after.map(({ writer }) => asItMustBe(writer, ALL)));
	}, 600_000);

	it('after Stop likewise', async () => {
		const middle: Scene[] = [];
		for (const writer of requesting) {
			const scene = await bench.inTheMiddle(writer, CONTINUE);
			await bench.n8n.request('POST', `/executions/${scene.execution.id}/stop`);
			middle.push(scene);
		}
		expect(await retriedOnce(middle)).toEqual(
			middle.map(({ writer, before }) => asItMustBe(writer, before)),
		);
	}, 600_000);
});
