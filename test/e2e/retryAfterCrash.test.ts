import type { IConnections, INode } from 'n8n-workflow';
import { z } from 'zod';
import { isObject } from '../engine/isObject';
import { CrashBench, type Scene, type RetryResult } from '../long/crash/crashBench';
import { ITEMS, received, writers, type Writer } from '../long/crash/writers';
import type { N8nServer } from '../n8n/server';
import { node } from '../n8n/workflow';
import { removeServer, startServer } from './ownServer';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ALL = '1'.repeat(ITEMS);
/** What n8n stores of a workflow. */
const stored = z.object({
	nodes: z.array(z.custom<INode>(isObject)),
	connections: z.custom<IConnections>(isObject),
});

const requesting = writers.filter(({ request }) => request !== undefined);

/** Items with a started request are unknown, and the rest is sent, unless it's for the same chat session. */
const expectedResult = ({ name, isOneSession = false }: Writer, before: string): RetryResult => {
	if (isOneSession) return { writer: name, before, after: before, output: 'u'.repeat(ITEMS) };
	const kinds = before.replace(/1/g, 'u').replace(/0/g, 'd');
	// Pushed rows are in the first output, and unknown ones in the second.
	const output = isPush(name) ? [...kinds].sort().join('') : kinds;
	return { writer: name, before, after: ALL, output };
};
const SIX_SENT = '11111100';
const pushWriter = (): Writer => {
	const found = writers.find(({ name }) => name === 'Push, one row a request');
	if (found === undefined) throw new Error('no such writer');
	return found;
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
			// A call, and a push of one row a request.
			for (const writer of requesting.slice(0, 2))
				arranged.push(await bench.hangInWriter(writer, CONTINUE, arrangement));
		}
		const after = await bench.hangAfterWriters(writers, CONTINUE);
		const unread = await bench.hangInWriter(pushWriter());
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
		await expectUnknownRowsToBeSeen(unread);
	});

	/** A push without a node at *Rejected*. Its message says how to see the unknown rows there. */
	async function expectUnknownRowsToBeSeen(scene: Scene): Promise<void> {
		const { n8n } = bench;
		expect(await bench.retryScene(scene)).toMatchObject({
			before: SIX_SENT,
			after: ALL,
			output: '',
		});
		const [failed] = await n8n.executions({ id: scene.execution.workflowId, name: '' });
		expect(failed?.status).toBe('error');
		const { error } = await n8n.runData(failed?.id ?? '');
		expect(error?.message).toBe(
			"6 rows may or may not be in the campaign, and no node reads 'Rejected'",
		);
		expect(error?.description).toMatch(/^Connect 'Rejected' to a node/);
		const workflow = await n8n.workflow(scene.execution.workflowId);
		const { nodes, connections } = stored.parse(
			await n8n.request('GET', `/workflows/${workflow.id}`),
		);
		const reader = node('Reader', 'n8n-nodes-base.noOp', 1);
		await n8n.updateWorkflow(workflow, {
			nodes: [...nodes, reader],
			connections: {
				...connections,
				[scene.writer.name]: { main: [[], [{ node: reader.name, type: 'main', index: 0 }]] },
			},
		});
		const again = await n8n.retry(failed?.id ?? '', 'current');
		expect(again.status).toBe('success');
		expect(await n8n.output(again.id, reader.name)).toHaveLength(6);
		expect(received(bench.simulator, scene.writer, scene.items)).toBe(ALL);
	}

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
