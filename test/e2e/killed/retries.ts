import { randomUUID } from 'node:crypto';
import type { IConnections, INode } from 'n8n-workflow';
import { z } from 'zod';
import { isObject } from '../../engine/isObject';
import type { Arrangement } from '../../long/crash/arrangements';
import { CrashBench, type Scene, type RetryResult } from '../../long/crash/crashBench';
import { ITEMS, received, writers, type Writer } from '../../long/crash/writers';
import type { ScriptedModel } from '../../n8n/scriptedModel';
import type { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import { chain, node, webhook } from '../../n8n/workflow';
import { Account } from '../account';
import {
	aiAgent,
	callTool,
	callsDirectly,
	chatModel,
	connect,
	CUSTOMER,
	finish,
	OTHER,
	startModel,
	uses,
} from '../callingAgent';
import type { Part } from './part';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ALL = '1'.repeat(ITEMS);
/** What n8n stores of a workflow. */
const stored = z.object({
	nodes: z.array(z.custom<INode>(isObject)),
	connections: z.custom<IConnections>(isObject),
});

const writerNamed = (wanted: string): Writer => {
	const found = writers.find(({ name }) => name === wanted);
	if (found === undefined) throw new Error(`no writer ${wanted}`);
	return found;
};
const CALL = writerNamed('placeCall › place');
const PUSH = writerNamed('Push, one row a request');
const CHAT = writerNamed('Chat Send, immediate reply');
/** One of each kind. `npm run long -- crash` has all. */
const SOME: readonly Writer[] = [
	...[CALL, PUSH, CHAT],
	...['Place Call with a limit per person', 'Push, one request', 'dnd › add'].map(writerNamed),
];

/**
 * All items of a batch are unknown, and what does no harm twice is sent again. A push claims the rows of each request, so the
 * other rows are sent.
 */
const expectedResult = (writer: Writer, before: string): RetryResult => {
	const { name, isHarmlessTwice } = writer;
	if (isHarmlessTwice) {
		const after = before.replace(/./g, (times) => String(Number(times) + 1));
		const output = (REJECTED_AGAIN.includes(name) ? '-' : 'd').repeat(ITEMS);
		return { writer: name, before, after, output };
	}
	if (writer === PUSH) return theRestIsSent(writer, before);
	return { writer: name, before, after: before, output: 'u'.repeat(ITEMS) };
};
/** Items with a started request are unknown, and the others are sent. */
const theRestIsSent = (writer: Writer, before: string): RetryResult => {
	const kinds = before.replace(/1/g, 'u').replace(/0/g, 'd');
	// Pushed rows are in the first output, and unknown ones in the second.
	const output = writer === PUSH ? [...kinds].sort().join('') : kinds;
	return { writer: writer.name, before, after: ALL, output };
};
/** By the service, because the first attempt has closed the sessions. */
const REJECTED_AGAIN = ['chatSession › legacyPause', 'chatSession › close'];
const SIX_SENT = '11111100';

/** An agent that has called a person, and waits for its model. */
type AgentRun = { account: Account; model: ScriptedModel; id: string };

async function startAgent(n8nUrl: string, version: number): Promise<AgentRun> {
	const account = new Account({ n8nUrl });
	await account.open();
	const { model, modelCredentials } = await startModel(account.n8n);
	const path = randomUUID();
	const workflow = await account.publish({
		name: `agent ${version} ${path}`,
		nodes: [
			webhook(path, { responseMode: 'onReceived' }),
			// Longer than n8n needs to start again.
			chatModel(modelCredentials, { timeout: 600_000 }),
			aiAgent('Agent', version),
			callTool('Call', account.credentials),
		],
		connections: connect([['Webhook', 'Agent'], ...uses('Agent', 'Call')]),
	});
	model.follow(callsDirectly('Call', CUSTOMER), { hangs: true });
	await account.n8n.webhook(path, {});
	const id = await account.executionOf(workflow);
	const hangs = () => model.isAtEnd && account.simulator.callsTo(CUSTOMER) === 1;
	await until('the model to hang', () => hangs(), { timeout: 60_000 });
	return { account, model, id };
}

const BEFORE_HANG = 'Remove Duplicates';

/** Starts an execution that hangs after n8n's node that removes calls of earlier executions. Returns its ID. */
async function hangAfterRemoveDuplicates({ n8n, simulator }: CrashBench): Promise<string> {
	const path = randomUUID();
	const remove = node(BEFORE_HANG, 'n8n-nodes-base.removeDuplicates', 2, {
		operation: 'removeItemsSeenInPreviousExecutions',
		dedupeValue: '={{ $json.body.call_id }}',
	});
	const url = `${simulator.baseUrl}/${path}`;
	const next = node('Next', 'n8n-nodes-base.httpRequest', 4.2, { url });
	simulator.faults.inject({ kind: 'hang', match: { method: 'GET', path: `/${path}` }, times: 1 });
	const start = webhook(path, { responseMode: 'onReceived' });
	const workflow = await n8n.createWorkflow(chain(`hang ${path}`, start, remove, next));
	await n8n.activate(workflow);
	await n8n.webhook(path, { call_id: path });
	const hangs = () => simulator.requests.some((request) => request.path === `/${path}`);
	await until('the request after Remove Duplicates', () => hangs(), { timeout: 60_000 });
	const [execution] = await n8n.executions(workflow);
	return execution?.id ?? '';
}

/** Retry of executions that are interrupted. */
export function retries(): Part {
	let bench: CrashBench;
	let middle: Scene[];
	let arranged: Scene[];
	let after: Scene[];
	let unread: Scene;
	let agents: AgentRun[] = [];
	let removed: string;

	async function retryAll(scenes: readonly Scene[]): Promise<RetryResult[]> {
		const verdicts: RetryResult[] = [];
		for (const scene of scenes) verdicts.push(await bench.retryScene(scene));
		return verdicts;
	}
	const wanted = (scenes: readonly Scene[]) =>
		scenes.map(({ writer, before }) => expectedResult(writer, before));

	async function arrange(server: N8nServer): Promise<void> {
		bench = await CrashBench.start(server);
		const hang = async (writer: Writer, arrangement?: Arrangement) =>
			await bench.hangInWriter(writer, CONTINUE, arrangement);
		middle = [];
		for (const writer of SOME) middle.push(await hang(writer));
		arranged = [
			await hang(PUSH, 'loop'),
			await hang(CALL, 'sub-workflow'),
			await hang(CALL, 'sub-workflow for each item'),
		];
		after = await bench.hangAfterWriters(writers, CONTINUE);
		unread = await bench.hangInWriter(PUSH);
		removed = await hangAfterRemoveDuplicates(bench);
		agents = [await startAgent(server.baseUrl, 3.1), await startAgent(server.baseUrl, 2.2)];
	}

	async function stop(): Promise<void> {
		for (const { account, model } of agents) {
			await model.stop();
			await account.simulator.stop();
		}
		await bench.simulator.stop();
	}

	function tests(): void {
		it('after a kill, repeats no request of the last batch, except what does no harm twice', async () => {
			expect(await retryAll(middle)).toEqual(wanted(middle));
			// Another retry of the same execution, which doesn't know about the first retry.
			const twice = middle.slice(0, 2);
			const unknown = wanted(twice).map((one) => ({ ...one, output: 'u'.repeat(ITEMS) }));
			expect(await retryAll(twice)).toEqual(unknown);
		});

		it('after a kill in a loop or a sub-workflow, sends no request twice', async () => {
			const sent = (await retryAll(arranged)).map((one) => [one.before, one.after]);
			// The items of the sub-workflow that runs once were one batch.
			expect(sent).toEqual([ALL, SIX_SENT, ALL].map((after) => [SIX_SENT, after]));
		});

		it('after a kill in a later node, repeats nothing but what does no harm twice', async () => {
			const verdicts = await bench.retryScenes(after);
			expect(verdicts).toEqual(after.map(({ writer }) => expectedResult(writer, ALL)));
		});

		it("after a kill of a push whose 'Rejected' nobody reads, says how to see the unknown rows there", async () => {
			const { n8n } = bench;
			expect(await bench.retryScene(unread)).toMatchObject({
				before: SIX_SENT,
				after: ALL,
				output: '',
			});
			const [failed] = await n8n.executions({ id: unread.execution.workflowId, name: '' });
			expect(failed?.status).toBe('error');
			const { error } = await n8n.runData(failed?.id ?? '');
			expect(error?.message).toBe(
				"6 rows may or may not be in the campaign, and no node reads 'Rejected'",
			);
			expect(error?.description).toMatch(/^Connect 'Rejected' to a node/);
			const workflow = await n8n.workflow(unread.execution.workflowId);
			const { nodes, connections } = stored.parse(
				await n8n.request('GET', `/workflows/${workflow.id}`),
			);
			const reader = node('Reader', 'n8n-nodes-base.noOp', 1);
			await n8n.updateWorkflow(workflow, {
				nodes: [...nodes, reader],
				connections: {
					...connections,
					[unread.writer.name]: { main: [[], [{ node: reader.name, type: 'main', index: 0 }]] },
				},
			});
			const again = await n8n.retry(failed?.id ?? '', 'current');
			expect(again.status).toBe('success');
			expect(await n8n.output(again.id, reader.name)).toHaveLength(6);
			expect(received(bench.simulator, unread.writer, unread.items)).toBe(ALL);
		});

		it('after a kill during a run of an AI Agent, calls the same person no more', async () => {
			for (const { account, model, id } of agents) {
				const { n8n, simulator } = account;
				await n8n.signIn();
				model.follow(callsDirectly('Call', CUSTOMER), callsDirectly('Call', OTHER), finish);
				await n8n.finished(id);
				expect(await n8n.retry(id, 'original')).toMatchObject({ status: 'success' });
				const [first, ...rest] = model.toolResults();
				expect(first).toContain('"outcome":"unknown"');
				expect(rest).toEqual([expect.stringContaining('"outcome":"done"')]);
				expect([simulator.callsTo(CUSTOMER), simulator.callsTo(OTHER)]).toEqual([1, 1]);
			}
		});

		it("after a kill behind n8n's Remove Duplicates, ends there with the call in the output of the trigger", async () => {
			const { n8n } = bench;
			await n8n.finished(removed);
			const { id, status } = await n8n.retry(removed, 'original');
			expect(status).toBe('success');
			expect(await n8n.output(id, 'Webhook')).toHaveLength(1);
			expect(await n8n.output(id, BEFORE_HANG)).toEqual([]);
		});

		it('after Stop, does not repeat started requests, and sends the rest', async () => {
			const stopped: Scene[] = [];
			for (const writer of [CALL, PUSH, CHAT]) {
				const scene = await bench.hangInWriter(writer, CONTINUE);
				await bench.n8n.request('POST', `/executions/${scene.execution.id}/stop`);
				stopped.push(scene);
			}
			expect(await retryAll(stopped)).toEqual(
				stopped.map(({ writer, before }) => theRestIsSent(writer, before)),
			);
		});
	}

	return { arrange, afterKill: async () => await bench.n8n.signIn(), stop, tests };
}
