import { inspect } from 'node:util';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { N8nDriver, type Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { PACKAGE, removeWorkflow } from './calls';
import { sharedN8n } from './shared';

const AGENT = { agentUuid: { __rl: true, mode: 'id', value: fixtures.agents.full } };
const SESSION = "={{ $('Create').item.json.session_id }}";

describe('a chat in real n8n', () => {
	const { baseUrl } = sharedN8n();
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credentials: Record<string, Reference>;

	beforeAll(async () => {
		n8n = await N8nDriver.signIn(baseUrl);
		simulator = await startSimulator({ dialect: dialects.plain });
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		credentials = { [CREDENTIAL]: credential };
	});
	afterAll(async () => {
		await simulator.stop();
	});

	const chat = (name: string, type: string, parameters: INodeParameters): INode =>
		node(name, `${PACKAGE}.${type}`, 1, parameters, { credentials });
	const say = (name: string, message: string, more: INodeParameters): INode =>
		chat(name, 'chatSend', { operation: 'sendMessage', sessionId: SESSION, message, ...more });

	it('is created, gets context, gets messages in every way of sending, and is closed', async () => {
		const workflow = await n8n.createWorkflow(
			chain(
				'a whole chat',
				manualTrigger(),
				chat('Create', 'chatSession', { operation: 'create', ...AGENT, personName: 'Asha' }),
				chat('Tell', 'injectContext', { sessionId: SESSION, context: 'Called yesterday' }),
				say('Live', 'Hello', { sendBy: 'socket', idempotency: 'derived', uniqueBy: '1' }),
				say('Request', 'Is it free?', { sendBy: 'inbound' }),
				say('Legacy', 'Thanks', { sendBy: 'legacy', ...AGENT }),
				// Last, because later messages would be merged into their turns.
				say('Later', 'And on Sunday?', { sendBy: 'async' }),
				say('Merged', 'please merge this', { sendBy: 'socket' }),
				chat('Close', 'chatSession', { operation: 'close', sessionId: SESSION }),
			),
		);
		const { id, status } = await n8n.runManually(workflow, 'Start');
		const run = await n8n.runData(id);
		expect({ status, error: run.error }).toEqual({ status: 'success', error: undefined });

		const of = async (name: string) => (await n8n.output(id, name)).map(({ json }) => json);
		const [created] = await of('Create');
		const sessionId = z.string().parse(created?.session_id);
		expect(await of('Tell')).toEqual([
			{ session_id: sessionId, context: [expect.any(String), 'Called yesterday'] },
		]);
		expect(await of('Live')).toMatchObject([{ state: 'default', reply: 'You said: Hello' }]);
		expect(await of('Merged')).toMatchObject([{ state: 'merged', reply: null }]);
		expect(JSON.stringify(await of('Request'))).toContain('You said: Is it free?');
		expect(await of('Later')).toHaveLength(1);
		expect(await of('Legacy')).toMatchObject([{ response: 'You said: Thanks' }]);

		const session = simulator.sessions.get(sessionId);
		expect(session).toMatchObject({ status: 'closed', person: 'Asha' });
		const customerMessages = session.messages.filter(({ role }) => role === 'user');
		expect(customerMessages.map(({ content }) => content)).toEqual([
			'Hello',
			'Is it free?',
			'Thanks',
			'And on Sunday?',
			'please merge this',
		]);
		expect(inspect(run, { depth: Infinity })).not.toContain(simulator.token);
		await until('all sockets to close', async () =>
			Promise.resolve(simulator.sessions.openSockets() === 0),
		);
		await removeWorkflow(n8n, workflow);
	});
});
