import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { isN8n1, type N8nDriver, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node, waitNode, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator } from '../simulator';
import { useAccount } from './account';
import { executionsOf, published } from './calls';

const NAME = 'Chat Events Trigger';
const { sessions } = fixtures;

/** How many executions of a workflow ran at the same time. */
async function mostAtOnce(n8n: N8nDriver, workflow: Workflow): Promise<number> {
	const ran = z.array(z.object({ startedAt: z.string(), stoppedAt: z.string() }));
	const all = ran.parse(await n8n.executions(workflow));
	const counts = all.map(
		({ startedAt: at }) =>
			all.filter(({ startedAt, stoppedAt }) => startedAt <= at && at < stoppedAt).length,
	);
	return Math.max(...counts);
}

describe('Chat Events Trigger in real n8n', () => {
	const account = useAccount({ isMapped: true });
	const { n8n, simulator, ours, create, publish } = account;

	afterEach(async () => {
		await account.removeWorkflows();
		await untilSocketsClosed();
		simulator.reset();
	});

	const untilSocketsClosed = async () =>
		await until('all sockets to close', () => simulator.sessions.openSockets() === 0);
	const connected = async (count: number) =>
		await until(`${count} sockets`, () => simulator.sessions.openSockets() === count);

	const trigger = (parameters: INodeParameters, webhookId: string = randomUUID()) =>
		ours(NAME, 'chatEventsTrigger', parameters, { webhookId });

	const listen = async (parameters: INodeParameters, webhookId?: string): Promise<Workflow> =>
		await publish(chain('chat events', trigger(parameters, webhookId)));

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
		await account.removeWorkflows();
		await untilSocketsClosed();
		expect(simulator.sessions.openSockets()).toBe(0);
	});

	it('starts once per event, if the workflow is published again during 60 events, even without a replay', async () => {
		const service = await startSimulator({ dialect: dialects.plain, replayMaxEvents: 0 });
		try {
			const credential = await n8n.createCredential(CREDENTIAL, credentialFor(service));
			const before = {
				...trigger({ sessionIds: sessions.open }),
				credentials: { [CREDENTIAL]: credential },
			};
			const parameters = { ...before.parameters, eventTypes: ['nudge_sent'] };
			// The others wait for the first ones, and the workflow is published again in this time.
			const slow = waitNode(4);
			const flow = chain('burst', before, slow);
			const workflow = await publish(flow);
			await published(n8n, workflow);
			await until('the socket', () => service.sessions.openSockets() === 1);
			const sent = Array.from({ length: 60 }, () => service.sessions.nudge(sessions.open));
			await until('the first execution', async () => (await n8n.executions(workflow)).length > 0);
			await n8n.activate(
				await n8n.updateWorkflow(workflow, { nodes: [{ ...before, parameters }, slow] }),
			);
			const items = await executionsOf(n8n, workflow, NAME, 60);
			expect(items.map(({ json }) => json.event_id).sort()).toEqual(sent.sort());
			expect(await mostAtOnce(n8n, workflow)).toBeLessThanOrEqual(50);
			await published(n8n, workflow);
			await until('the socket', () => service.sessions.openSockets() === 1);
		} finally {
			await service.stop();
		}
	});

	it('starts the error workflow when it stops following a session', async () => {
		const errors = await create(chain('on error', node('Error', 'n8n-nodes-base.errorTrigger', 1)));
		const workflow = await create({
			...chain('gives up', trigger({ sessionIds: `${sessions.open} ${sessions.dormant}` })),
			settings: { errorWorkflow: errors.id },
		});
		// n8n 1 can't publish an error workflow, and doesn't need to.
		if (!isN8n1) await n8n.activate(errors);
		await n8n.activate(workflow);
		await connected(2);
		await published(n8n, workflow);
		simulator.faults.respond(new RegExp(`${sessions.dormant}/ws_token`), 403);
		const tokens = () => simulator.requests.filter(({ path }) => path.endsWith('ws_token')).length;
		const before = tokens();
		simulator.sessions.closeSockets(4401, sessions.dormant);
		await until('the rejection', () => tokens() > before);
		simulator.sessions.nudge(sessions.open);
		await until('the other session’s event', async () =>
			(await n8n.executions(workflow)).some(({ status }) => status === 'success'),
		);
		// While it's published, it waits for other lost sessions, and reports them together.
		await n8n.deactivate(workflow);
		const items = await executionsOf(n8n, errors, 'Error', 1);
		expect(JSON.stringify(items)).toContain(sessions.dormant);
		expect(JSON.stringify(items)).toContain('Unpublish the workflow, then publish it.');
		expect(JSON.stringify(items)).not.toContain(simulator.token);
		simulator.faults.clear();
		await n8n.activate(workflow);
		await connected(2);
	});

	it('Watch adds a session while the workflow is published, and Unwatch removes it', async () => {
		const webhookId = randomUUID();
		const workflow = await listen({ sessions: 'watched', watchSecret: 'sesame' }, webhookId);
		await published(n8n, workflow);
		const triggerUrl = `${n8n.baseUrl}/webhook/${webhookId}/watch`;
		const session = (operation: string): INodeParameters => ({
			resource: 'watchList',
			operation,
			sessionId: '={{ $json.body.session }}',
			triggerUrl,
			triggerSecret: 'sesame',
		});
		const run = async (operation: string, sessionId: string) => {
			const path = randomUUID();
			const sent = ours('Session', 'chatSession', session(operation));
			await publish(chain(operation, webhook(path), sent));
			const result: unknown = await (await n8n.webhook(path, { session: sessionId })).json();
			return result;
		};
		expect(await run('watch', sessions.open)).toMatchObject({
			session_id: sessions.open,
			watched: true,
		});
		await connected(1);
		simulator.sessions.nudge(sessions.open);
		const items = await executionsOf(n8n, workflow, NAME, 1);
		expect(items).toMatchObject([{ json: { type: 'nudge_sent' } }]);

		// Like a restart, publishing again reads the list from n8n's database.
		await n8n.deactivate(workflow);
		await untilSocketsClosed();
		await n8n.activate(workflow);
		await published(n8n, workflow);
		await connected(1);
		expect(await run('unwatch', sessions.open)).toMatchObject({ watched: false });
		await untilSocketsClosed();

		// By a 404 with a message, Watch knows that the trigger isn't published. It says that the URL isn't registered, or if it was
		// requested in this moment, that the published version isn't found: n8n may store it in its cache again.
		await n8n.deactivate(workflow);
		const body = await until('the URL to be removed', async () => {
			const response = await fetch(triggerUrl, { method: 'POST' });
			const text = await response.text();
			if (response.status === 404) return text;
			throw new Error(`${response.status} ${text}`);
		});
		expect(JSON.parse(body)).toMatchObject({
			message: expect.stringMatching(/ is not registered|version not found/),
		});
	});

	it('Chat Send and the trigger share one connection to a session', async () => {
		const sendPath = randomUUID();
		const chat = (type: string, parameters: INodeParameters) =>
			ours('Chat', type, { sessionId: sessions.open, ...parameters });
		const workflow = await listen({ sessionIds: sessions.open, eventTypes: ['message_received'] });
		await publish(
			chain('sends', webhook(sendPath), chat('chatSend', { message: '={{ $json.body.text }}' })),
		);
		await connected(1);
		const send = async (text: string): Promise<unknown> =>
			await (await n8n.webhook(sendPath, { text })).json();
		const texts = Array.from({ length: 8 }, (_, index) => `message ${index}`);
		const replies = await Promise.all(texts.map(send));
		expect(replies).toMatchObject(texts.map((text) => ({ reply: `You said: ${text}` })));

		// Two events per message: the customer's and the agent's.
		const items = await executionsOf(n8n, workflow, NAME, 16);
		const events = items.map(({ json }) => json.event_id);
		expect(new Set(events).size).toBe(16);
		expect(events).toHaveLength(16);
		expect(simulator.sessions.openSockets(sessions.open)).toBe(1);

		simulator.sessions.setMode(sessions.open, 'ai');
		// An unpublished trigger doesn't close the connection of the others.
		const slow = send('please answer slowly');
		await until('the slow message', () =>
			simulator.sessions.frames().some(({ text }) => text.includes('slowly')),
		);
		await n8n.deactivate(workflow);
		expect(await slow).toMatchObject({ reply: 'You said: please answer slowly' });
		// A published trigger keeps the connection after the others have ended.
		await n8n.activate(workflow);
		await connected(1);
		expect(await send('last')).toMatchObject({ reply: 'You said: last' });
		expect(simulator.sessions.openSockets(sessions.open)).toBe(1);
	});
});
