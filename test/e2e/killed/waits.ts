import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import type { N8nDriver, Workflow } from '../../n8n/driver';
import type { N8nServer } from '../../n8n/server';
import { until } from '../../n8n/until';
import { z } from 'zod';
import { byId, chain, webhook, type WorkflowJson } from '../../n8n/workflow';
import { fixtures } from '../../simulator';
import type { Simulator } from '../../simulator/simulator';
import { Account, REPORTED } from '../account';
import { allExecutions, callIdOf, executionsOf, firstReading, post, published } from '../calls';
import type { Part } from './part';

const { campaigns } = fixtures;
const WAIT = { options: { waitMinutes: 60 } };
const ASK = { operation: 'askAndWait', question: 'May we?', yesValues: 'yes', noValues: 'no' };
const WAITED_FOR = ['9000000001', '9000000002'];
const ASKED = ['9000000003', '9000000004'];
const READER = 'Campaign Calls Trigger';

const WATCHING = 'Chat Events Trigger';

const watched = z.object({ session_id: z.string(), watched: z.literal(true) });

/**
 * Publishes Chat Events Trigger, and then runs Create → Chat Send → Watch, so that it joins the connection of Chat Send.
 * Resolves when the trigger is connected.
 */
async function publishWatched({
	n8n,
	simulator,
	ours,
	publish,
}: Account): Promise<{ workflow: Workflow; session: string }> {
	const [path, webhookId] = [randomUUID(), randomUUID()];
	const listens = { sessions: 'watched', watchSecret: 'sesame', eventTypes: ['nudge_sent'] };
	const trigger = ours(WATCHING, 'chatEventsTrigger', listens, { webhookId });
	const workflow = await publish(chain('listens', trigger));
	await published(n8n, workflow);
	const sessionId = '={{ $json.session_id }}';
	const watch = {
		resource: 'watchList',
		sessionId,
		triggerUrl: `${n8n.baseUrl}/webhook/${webhookId}/watch`,
		triggerSecret: 'sesame',
	};
	await publish(
		chain(
			'begins',
			webhook(path),
			ours('Create', 'chatSession', { agentUuid: byId(fixtures.agents.full) }),
			ours('Send', 'chatSend', { sessionId, message: 'Hello' }),
			ours('Watch', 'chatSession', watch),
		),
	);
	const { session_id: session } = watched.parse(await (await n8n.webhook(path)).json());
	const isConnected = () => simulator.sessions.openSockets(session) === 1;
	await until('the trigger to be connected', isConnected);
	return { workflow, session };
}

/** Executions that wait for calls, and triggers. */
export function waits(): Part {
	let account: Account;
	let n8n: N8nDriver;
	let simulator: Simulator;
	/** The IDs of executions that wait for calls. */
	let waiting: string[];
	let reader: Workflow;
	/** Two workflows with the same session. */
	let listeners: Workflow[];
	let reported: { workflow: Workflow; report: (callId: string) => Promise<void> };
	let session: string;
	const completed: string[] = [];
	const events: string[] = [];

	const ours: Account['ours'] = (...args) => account.ours(...args);
	const publish = async (workflow: WorkflowJson) => await account.publish(workflow);

	/** Starts webhook → one item per person → Place Call. Returns the execution ID. */
	const start = async (people: string[], parameters: INodeParameters): Promise<string> => {
		const placeCall = account.placeCall(parameters);
		const continues = { ...placeCall, onError: 'continueRegularOutput' as const };
		return (await account.start(people, [continues])).id;
	};

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

	const untilConnected = async () =>
		await until('the socket', () => simulator.sessions.openSockets() > 0, {
			timeout: 120_000,
		});

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
		waiting = [await start(WAITED_FOR, WAIT), await start(ASKED, ASK)];
		const all = WAITED_FOR.length + ASKED.length;
		await until('the calls', () => simulator.placedCalls().length === all);
		await executionsOf(n8n, reported.workflow, REPORTED, 1);
		for (const workflow of [reader, ...listeners]) await published(n8n, workflow);
	}

	async function beforeKill(): Promise<void> {
		nudge(5);
	}

	async function whileKilled(): Promise<void> {
		await endCampaignCalls(3);
		nudge(5);
	}

	function tests(): void {
		it('calls and questions that an execution waited for are unknown in its retry, which calls nobody again', async () => {
			for (const [index, people] of [WAITED_FOR, ASKED].entries()) {
				const id = waiting[index] ?? '';
				await n8n.finished(id);
				const again = await n8n.retry(id, 'original');
				const items = (await n8n.output(again.id, 'Place Call')).map(({ json }) => json);
				expect(items).toMatchObject(
					people.map((phone) => ({ phone, details: { outcome: 'unknown' } })),
				);
				for (const item of items) expect(item).not.toHaveProperty('placed');
				expect(people.map((phone) => simulator.callsTo(`+91${phone}`))).toEqual(
					people.map(() => 1),
				);
			}
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
