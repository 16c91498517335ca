import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import type { N8nDriver, Workflow } from '../../n8n/driver';
import type { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import {
	byId,
	chain,
	executeSub,
	node,
	subTrigger,
	webhook,
	type WorkflowJson,
} from '../../n8n/workflow';
import { fixtures, type CallOutcome } from '../../simulator';
import type { Simulator } from '../../simulator/simulator';
import { Account, loopOver, REPORTED, split } from '../account';
import { allExecutions, callIdOf, executionsOf, firstReading, post, published } from '../calls';
import type { Part } from './part';
import { KEY } from '../questions';
import { publishWatched, WATCHING } from '../watchedSession';

const { campaigns } = fixtures;
const WAIT = { waitForCompletion: 'webhook' };
const ASK = { operation: 'sendAndWait', message: 'May we?', yesValues: 'yes', noValues: 'no' };
const READER = 'Campaign Calls Trigger';

const captured = (answer: string): CallOutcome => ({ data_captured: { [KEY]: answer } });
/** What four people say, and the answer that the node returns. */
const ANSWERS: Array<[CallOutcome, string]> = [
	[captured('Yes'), 'yes'],
	[captured('no'), 'no'],
	[{ status: 'not_picked', data_captured: null }, 'not_reached'],
	[captured('call me tomorrow'), 'unclear'],
];

/** A started workflow that waits for its calls. */
type Waiting = {
	people: string[];
	/** The node with the results. */
	last: string;
	execution: () => Promise<string>;
	/** The answers of a question, in the order of the people. */
	answers?: string[];
};

/** Executions that wait for calls, and triggers. */
export function waits(): Part {
	let account: Account;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let waiting: Waiting[];
	let reader: Workflow;
	/** Two workflows with the same session. */
	let listeners: Workflow[];
	let reported: { workflow: Workflow; report: (callId: string) => Promise<void> };
	let session: string;
	const completed: string[] = [];
	const events: string[] = [];
	/** What people say who don't say yes, by phone number. */
	const outcomes = new Map<string, CallOutcome>();
	let persons = 0;

	const ours: Account['ours'] = (...args) => account.ours(...args);
	const place = (parameters: INodeParameters) => account.placeCall(parameters);
	const publish = async (workflow: WorkflowJson) => await account.publish(workflow);

	/** A node that runs a sub-workflow with Place Call. */
	const placeInSub = async (parameters: INodeParameters): Promise<INode> =>
		executeSub((await publish(chain('sub', subTrigger(), place(parameters)))).id);

	/** Starts webhook → one item per person → the node. */
	const start = async (count: number, last: INode): Promise<Waiting> =>
		await startFlow(count, (trigger) => chain('waits', trigger, split(), last), last.name);

	/** Starts webhook → one item per person → a loop over the node. */
	const startInLoop = async (count: number, looped: INode): Promise<Waiting> =>
		await startFlow(count, (trigger) => loopOver(trigger, looped), 'Loop');

	async function startFlow(
		count: number,
		flow: (trigger: INode) => WorkflowJson,
		last: string,
	): Promise<Waiting> {
		const people = newPeople(count);
		const { id } = await account.startFlow(people, flow);
		return { people, last, execution: async () => id };
	}

	/** Starts a workflow that fails, and whose error workflow has Place Call. */
	async function startOnError(parameters: INodeParameters): Promise<Waiting> {
		const people = newPeople(1);
		const trigger = node('Error', 'n8n-nodes-base.errorTrigger', 1);
		const last = place({ ...parameters, phoneNumber: people[0] ?? '' });
		const errors = await publish(chain('on error', trigger, last));
		const path = randomUUID();
		const first = webhook(path, { responseMode: 'onReceived' });
		const fail = node('Fail', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'Down' });
		await publish({ ...chain('fails', first, fail), settings: { errorWorkflow: errors.id } });
		await n8n.webhook(path);
		return { people, last: last.name, execution: async () => await account.executionOf(errors) };
	}

	const newPeople = (count: number) =>
		Array.from({ length: count }, () => String(9_000_000_001 + persons++));

	/** Publishes a workflow that starts with the calls of a campaign. n8n stores the first reading. */
	async function startReader(): Promise<Workflow> {
		const pollTimes = { item: [{ mode: 'everyMinute' }] };
		const parameters = { campaignId: byId(campaigns.active), pollTimes };
		const trigger = ours(READER, 'campaignCallsTrigger', parameters);
		const workflow = await publish(chain('reads', trigger));
		await firstReading(n8n, workflow);
		return workflow;
	}

	/** Publishes a workflow to which the service reports calls until n8n accepts each report. */
	async function startReported() {
		const { workflow, url } = await account.publishReported();
		const report = async (callId: string) => {
			await until('the report to be accepted', async () => {
				const { status, headers } = await post(url, { call_id: callId });
				// While it starts, n8n responds with 200 and a page.
				return status === 200 && headers.get('content-type')?.includes('json') === true;
			});
		};
		return { workflow, report };
	}

	function nudge(count: number): void {
		for (let index = 0; index < count; index++) events.push(simulator.sessions.nudge(session));
	}

	async function endCampaignCalls(count: number): Promise<void> {
		for (let index = 0; index < count; index++) {
			const callId = simulator.addAttempt(campaigns.active, 'picked');
			await simulator.endCall(callId);
			completed.push(callId);
		}
	}

	const outcomeOf = (phone: string) => outcomes.get(phone.replace('+91', '')) ?? captured('yes');

	async function complete(people: string[]): Promise<void> {
		for (const { callId, phone } of simulator.placedCalls()) {
			if (people.includes(phone.replace('+91', '')))
				await simulator.completeCall(callId, outcomeOf(phone));
		}
	}

	const untilConnected = async () =>
		await until('the socket', () => simulator.sessions.openSockets() > 0, {
			timeout: 120_000,
		});

	async function untilPlaced(count: number): Promise<void> {
		await until(`${count} calls`, () => simulator.placedCalls().length === count);
	}

	async function untilAllWait(): Promise<void> {
		for (const { execution } of waiting) await account.untilWaiting(await execution());
	}

	async function arrange({ baseUrl: n8nUrl }: N8nServer): Promise<void> {
		// Longer than n8n needs to start on a busy machine.
		const replayWindowMs = 600_000;
		account = new Account({ n8nUrl, isMapped: true, replayWindowMs });
		({ n8n, simulator } = account);
		await account.open();

		reader = await startReader();
		reported = await startReported();
		await reported.report(fixtures.calls.finished);
		const { workflow: watching, ...watched } = await publishWatched(account);
		({ session } = watched);
		const listed = { sessionIds: session, eventTypes: ['nudge_sent'] };
		const listing = ours(WATCHING, 'chatEventsTrigger', listed, { webhookId: randomUUID() });
		listeners = [watching, await publish(chain('listens, too', listing))];
		const plain = await start(8, place(WAIT));
		const asking = await start(ANSWERS.length, place(ASK));
		const questions = [
			await start(2, await placeInSub(ASK)),
			await startInLoop(2, place(ASK)),
			await startOnError(ASK),
		];
		waiting = [
			plain,
			await start(3, await placeInSub(WAIT)),
			await startInLoop(2, await placeInSub(WAIT)),
			await startInLoop(2, place(WAIT)),
			await startOnError(WAIT),
			{ ...asking, answers: ANSWERS.map(([, answer]) => answer) },
			...questions.map((one) => ({ ...one, answers: one.people.map(() => 'yes') })),
		];
		asking.people.forEach((phone, index) => outcomes.set(phone, ANSWERS[index]?.[0] ?? {}));
		// Each loop calls its second person after the first one.
		await untilPlaced(22);
		await untilAllWait();
		await executionsOf(n8n, reported.workflow, REPORTED, 1);
		for (const workflow of [reader, ...listeners]) await published(n8n, workflow);
	}

	async function beforeKill(): Promise<void> {
		await complete(waiting[0]?.people.slice(0, 3) ?? []);
		nudge(5);
	}

	async function whileKilled(): Promise<void> {
		// n8n misses these reports. Later ones make it read all calls.
		await complete(waiting[0]?.people.slice(3, 6) ?? []);
		await endCampaignCalls(3);
		nudge(5);
	}

	function tests(): void {
		it('each call and each question that waited returns its result once, in workflows, sub-workflows, loops, and error workflows', async () => {
			simulator.setAutoComplete({ afterMs: 2_000, outcome: captured('yes') });
			const ended = new Set(waiting[0]?.people.slice(0, 6));
			await complete(waiting.flatMap(({ people }) => people.filter((phone) => !ended.has(phone))));
			await untilPlaced(25);
			for (const { people, last, execution, answers } of waiting) {
				const id = await execution();
				expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
				const items = (await n8n.output(id, last)).map(({ json }) => json);
				expect(items).toMatchObject(
					people.map((phone, index) => ({
						phone_key: `91${phone}`,
						timed_out: false,
						...(answers && {
							answer: answers[index],
							data: { approved: answers[index] === 'yes' },
						}),
					})),
				);
			}
			const called = simulator.placedCalls().map(({ phone }) => phone);
			const people = waiting.flatMap((one) => one.people.map((phone) => `+91${phone}`));
			expect(called.sort()).toEqual(people.sort());
		});

		it('Campaign Calls Trigger returns the calls that ended in between once, also after it is published again', async () => {
			const returned = async (executions: number) =>
				(await executionsOf(n8n, reader, READER, executions)).map(callIdOf).sort();
			expect(await returned(1)).toEqual([...completed].sort());
			await n8n.deactivate(reader);
			await endCampaignCalls(2);
			await n8n.activate(reader);
			expect(await returned(2)).toEqual([...completed].sort());
		});

		it('Call Completed Trigger passes no call on again that it passed on before', async () => {
			const { finished, notPicked } = fixtures.calls;
			for (const callId of [finished, notPicked]) await reported.report(callId);
			const items = await executionsOf(n8n, reported.workflow, REPORTED, 3);
			expect(items.map(callIdOf).sort()).toEqual([finished, notPicked].sort());
		});

		it('Chat Events Trigger starts once for each event, in two workflows with the same session', async () => {
			await untilConnected();
			nudge(5);
			for (const listener of listeners) {
				const started = async () => {
					const all = await allExecutions(n8n, listener);
					const isOver = all.every(({ status }) => !['new', 'running'].includes(status));
					return isOver && all.length >= events.length && all;
				};
				await until('an execution for each event', started, { timeout: 120_000 });
				// An unexpected execution appears before n8n has served this many later requests, however slow it is.
				for (let later = 0; later < 10; later++) await allExecutions(n8n, listener);
				const found: unknown[] = [];
				for (const { id } of await until('their end', started)) {
					found.push(/"(evt_\d+)"/.exec((await n8n.execution(id)).data)?.[1]);
				}
				expect(found.sort()).toEqual([...events].sort());
			}
		});
	}

	return {
		arrange,
		beforeKill,
		whileKilled,
		afterKill: async () => await n8n.signIn(),
		stop: async () => await simulator.stop(),
		tests,
	};
}
