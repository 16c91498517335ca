import { randomUUID } from 'node:crypto';
import type { Arrangement } from '../../long/crash/arrangements';
import { CrashBench, type Scene, type RetryResult } from '../../long/crash/crashBench';
import { ITEMS, writers, type Writer } from '../../long/crash/writers';
import type { ScriptedModel } from '../../n8n/scriptedModel';
import type { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import { connect, webhook } from '../../n8n/workflow';
import { Account } from '../account';
import {
	aiAgent,
	callTool,
	callsDirectly,
	chatModel,
	CUSTOMER,
	finish,
	OTHER,
	startModel,
	uses,
} from '../callingAgent';
import type { Part } from './part';

const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ALL = '1'.repeat(ITEMS);

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
	...['Push, one request', 'dnd › add'].map(writerNamed),
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

/** Retry of executions that are interrupted. */
export function retries(): Part {
	let bench: CrashBench;
	let middle: Scene[];
	let arranged: Scene[];
	let after: Scene[];
	let agents: AgentRun[] = [];

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
		arranged = [await hang(PUSH, 'loop'), await hang(CALL, 'sub-workflow')];
		after = await bench.hangAfterWriters(writers, CONTINUE);
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
			expect(sent).toEqual([ALL, SIX_SENT].map((after) => [SIX_SENT, after]));
		});

		it('after a kill in a later node, repeats nothing but what does no harm twice', async () => {
			const verdicts = await bench.retryScenes(after);
			expect(verdicts).toEqual(after.map(({ writer }) => expectedResult(writer, ALL)));
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
