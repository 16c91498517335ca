import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { isN8n1, N8nDriver, type Reference, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, manualTrigger, node, waitNode, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { executionsOf, PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';
import { published } from './chatEvents';

const NAME = 'Chat Events Trigger';
const { sessions } = fixtures;

describe('Chat Events Trigger in real n8n', () => {
	const { baseUrl, home } = sharedN8n();
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;
	const workflows: Workflow[] = [];

	beforeAll(async () => {
		n8n = await N8nDriver.signIn(baseUrl);
		simulator = await startSimulator({ dialect: dialects.plain });
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		credentials = { [CREDENTIAL]: credential };
	});
	afterEach(async () => {
		for (const workflow of workflows.splice(0)) await removeWorkflow(n8n, workflow);
		await untilSocketsClosed();
		simulator.reset();
	});
	afterAll(async () => {
		await simulator.stop();
	});

	const untilSocketsClosed = async () =>
		await until('all sockets to close', async () =>
			Promise.resolve(simulator.sessions.openSockets() === 0),
		);
	const connected = async (count: number) =>
		await until(`${count} sockets`, async () =>
			Promise.resolve(simulator.sessions.openSockets() === count),
		);

	const trigger = (parameters: INodeParameters, webhookId: string = randomUUID()) =>
		node(NAME, `${PACKAGE}.chatEventsTrigger`, 1, parameters, { credentials, webhookId });

	async function listen(parameters: INodeParameters, webhookId?: string): Promise<Workflow> {
		const workflow = await n8n.createWorkflow(chain('chat events', trigger(parameters, webhookId)));
		workflows.push(workflow);
		await n8n.activate(workflow);
		return workflow;
	}

	it('closes its sockets after unpublishing, editing, and deleting', async () => {
		const workflow = await listen({ sessionIds: `${sessions.open}, ${sessions.dormant}` });
		await connected(2);
		await n8n.deactivate(workflow);
		await untilSocketsClosed();
		await n8n.activate(workflow);
		await connected(2);
		const [kept] = chain('', trigger({ sessionIds: sessions.open })).nodes;
		const edited = await n8n.updateWorkflow(workflow, { nodes: kept ? [kept] : [] });
		await n8n.activate(edited);
		await connected(1);
		await removeWorkflow(n8n, edited);
		workflows.length = 0;
		await untilSocketsClosed();
		expect(simulator.sessions.openSockets()).toBe(0);
	});

	it('starts once per event if the workflow is published again during 60 events, even without a replay', async () => {
		const service = await startSimulator({ dialect: dialects.plain, replayMaxEvents: 0 });
		try {
			const credential = await n8n.createCredential(CREDENTIAL, credentialFor(service));
			const ids = [sessions.open, sessions.dormant];
			const before = {
				...trigger({ sessionIds: ids.join(', ') }),
				credentials: { [CREDENTIAL]: credential },
			};
			const parameters = { ...before.parameters, eventTypes: ['nudge_sent'] };
			// Those of a session start one after another, and the workflow is published again in this time.
			const slow = waitNode(4);
			const flow = chain('burst', before, slow);
			const workflow = await n8n.createWorkflow(flow);
			workflows.push(workflow);
			await n8n.activate(workflow);
			await published({ home }, workflow);
			const allOpen = async () => Promise.resolve(service.sessions.openSockets() === ids.length);
			await until('the sockets', allOpen);
			const sent = ids.flatMap((id) =>
				Array.from({ length: 30 }, () => service.sessions.nudge(id)),
			);
			await until('the first execution', async () => (await n8n.executions(workflow)).length > 0);
			await n8n.activate(
				await n8n.updateWorkflow(workflow, { nodes: [{ ...before, parameters }, slow] }),
			);
			const items = await executionsOf(n8n, workflow, NAME, 60);
			expect(items.map(({ json }) => json.event_id).sort()).toEqual(sent.sort());
			await published({ home }, workflow);
			await until('the sockets', allOpen);
		} finally {
			await service.stop();
		}
	});

	it('starts the error workflow when it stops following a session', async () => {
		const errors = await n8n.createWorkflow(
			chain('on error', node('Error', 'n8n-nodes-base.errorTrigger', 1)),
		);
		const workflow = await n8n.createWorkflow({
			...chain('gives up', trigger({ sessionIds: `${sessions.open} ${sessions.dormant}` })),
			settings: { errorWorkflow: errors.id },
		});
		workflows.push(errors, workflow);
		// n8n 1 can't publish an error workflow, and doesn't need to.
		if (!isN8n1) await n8n.activate(errors);
		await n8n.activate(workflow);
		await connected(2);
		await published({ home }, workflow);
		// The only documented fatal close code for a session.
		simulator.sessions.closeSockets(1003, sessions.dormant);
		const items = await executionsOf(n8n, errors, 'Error', 1);
		expect(JSON.stringify(items)).toContain(sessions.dormant);
		expect(JSON.stringify(items)).not.toContain(simulator.token);
		simulator.sessions.nudge(sessions.open);
		await until('the other session’s event', async () =>
			(await n8n.executions(workflow)).some(({ status }) => status === 'success'),
		);
	});

	it('Watch adds a session while the workflow is published, and Unwatch removes it', async () => {
		const webhookId = randomUUID();
		const workflow = await listen({ sessions: 'watched', watchSecret: 'sesame' }, webhookId);
		const session = (operation: string): INodeParameters => ({
			resource: 'watchList',
			operation,
			sessionId: '={{ $json.body.session }}',
			triggerUrl: `${baseUrl}/webhook/${webhookId}/watch`,
			triggerSecret: 'sesame',
		});
		const run = async (operation: string, sessionId: string) => {
			const path = randomUUID();
			const sessionWorkflow = await n8n.createWorkflow(
				chain(
					operation,
					webhook(path),
					node('Session', `${PACKAGE}.chatSession`, 1, session(operation), { credentials }),
				),
			);
			workflows.push(sessionWorkflow);
			await n8n.activate(sessionWorkflow);
			const result: unknown = await (await n8n.webhook(path, { session: sessionId })).json();
			return result;
		};
		expect(await run('watch', sessions.open)).toMatchObject({
			session_id: sessions.open,
			watched: true,
			connected: true,
		});
		simulator.sessions.nudge(sessions.open);
		const items = await executionsOf(n8n, workflow, NAME, 1);
		expect(items).toMatchObject([{ json: { type: 'nudge_sent' } }]);

		// Like a restart, publishing again reads the list from n8n's database.
		await n8n.deactivate(workflow);
		await untilSocketsClosed();
		await n8n.activate(workflow);
		await connected(1);
		expect(await run('unwatch', sessions.open)).toMatchObject({ watched: false });
		await untilSocketsClosed();
	});

	it('returns 400 for a watch request without a valid body', async () => {
		const webhookId = randomUUID();
		await listen({ sessions: 'watched', watchSecret: 'sesame' }, webhookId);
		const secretHeader = { 'x-watch-secret': 'sesame' };
		const address = `${baseUrl}/webhook/${webhookId}/watch`;
		const json = { 'Content-Type': 'application/json' };
		const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
		const requests: Array<{ headers?: Record<string, string>; body?: string | FormData }> = [
			{},
			{ body: '' },
			{ headers: json },
			{ headers: json, body: '' },
			{ headers: json, body: 'null' },
			{ headers: json, body: '[]' },
			{ headers: form, body: 'action=watch' },
			{ body: new FormData() },
		];
		const unreadable: typeof requests = [
			{ headers: { ...json, 'Content-Encoding': 'gzip' } },
			{ headers: { ...json, 'Content-Encoding': 'gzip' }, body: 'not gzip' },
			{ headers: { ...json, 'Content-Encoding': 'br' }, body: 'x' },
		];
		const post = async ({ headers: own, ...request }: (typeof requests)[number]) =>
			await fetch(address, { ...request, method: 'POST', headers: { ...own, ...secretHeader } });
		// n8n registers the webhook a moment before the trigger accepts requests.
		const isReady = async () => (await post({ body: '{}' })).status === 400;
		await until('the trigger to accept requests', isReady);
		const statuses: number[] = [];
		for (const request of requests) statuses.push((await post(request)).status);
		expect(statuses).toEqual(requests.map(() => 400));
		// n8n reads the body first, and rejects what it can't decompress.
		for (const request of unreadable) {
			expect((await post(request)).status).toBeGreaterThanOrEqual(400);
		}
	});

	it('Chat Send, Wait for Event, and the trigger share one connection to a session', async () => {
		const [sendPath, waitPath] = [randomUUID(), randomUUID()];
		const chat = (type: string, parameters: INodeParameters) =>
			node(
				'Chat',
				`${PACKAGE}.${type}`,
				1,
				{ sessionId: sessions.open, ...parameters },
				{ credentials },
			);
		const workflow = await listen({ sessionIds: sessions.open, eventTypes: ['message_received'] });
		const others = await Promise.all(
			[
				chain('sends', webhook(sendPath), chat('chatSend', { message: '={{ $json.body.text }}' })),
				chain(
					'waits',
					webhook(waitPath),
					chat('chatSession', { operation: 'waitForEvent', eventTypes: ['mode_changed'] }),
				),
			].map(async (flow) => await n8n.createWorkflow(flow)),
		);
		workflows.push(...others);
		for (const other of others) await n8n.activate(other);
		await connected(1);
		const waiting = n8n.webhook(waitPath);
		const send = async (text: string): Promise<unknown> =>
			await (await n8n.webhook(sendPath, { text })).json();
		const texts = Array.from({ length: 8 }, (_, index) => `message ${index}`);
		const replies = await Promise.all(texts.map(send));
		expect(replies).toMatchObject(texts.map((text) => ({ reply: `You said: ${text}` })));
		// The wait may start after the messages were sent.
		const waitResult = waiting.then(async (response): Promise<unknown> => await response.json());
		let hasEnded = false;
		void waitResult.finally(() => (hasEnded = true));
		await until('the wait to end', async () => {
			simulator.sessions.setMode(sessions.open, 'ai');
			simulator.sessions.setMode(sessions.open, 'support');
			return Promise.resolve(hasEnded);
		});
		expect(await waitResult).toMatchObject({ event: { type: 'mode_changed' } });

		// Two events per message: the customer's and the agent's.
		const items = await executionsOf(n8n, workflow, NAME, 16);
		const events = items.map(({ json }) => json.event_id);
		expect(new Set(events).size).toBe(16);
		expect(events).toHaveLength(16);
		expect(simulator.sessions.clientIds(sessions.open)).toHaveLength(1);

		simulator.sessions.setMode(sessions.open, 'ai');
		// An unpublished trigger doesn't close the connection of the others.
		const slow = send('please answer slowly');
		await until('the slow message', async () =>
			Promise.resolve(simulator.sessions.frames().some(({ text }) => text.includes('slowly'))),
		);
		await n8n.deactivate(workflow);
		expect(await slow).toMatchObject({ reply: 'You said: please answer slowly' });
		// A published trigger keeps the connection after the others have ended.
		await n8n.activate(workflow);
		await connected(1);
		expect(await send('last')).toMatchObject({ reply: 'You said: last' });
		// Longer than a connection stays open after its last use. n8n's timers end before it serves a later request.
		await sleep(1_500);
		await n8n.executions(workflow);
		expect(simulator.sessions.openSockets(sessions.open)).toBe(1);
	});

	it('Stop ends a wait and closes its socket', async () => {
		const wait = node(
			'Wait',
			`${PACKAGE}.chatSession`,
			1,
			{ operation: 'waitForEvent', sessionId: sessions.open },
			{ credentials },
		);
		const workflow = await n8n.createWorkflow(chain('is stopped', manualTrigger(), wait));
		workflows.push(workflow);
		const running = n8n.runManually(workflow, 'Start');
		await connected(1);
		const [execution] = await n8n.executions(workflow);
		await n8n.request('POST', `/executions/${execution?.id ?? ''}/stop`);
		expect((await running).status).toBe('canceled');
		await untilSocketsClosed();
	});
});
