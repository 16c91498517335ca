/** An MCP client stops waiting for a tool after 60 seconds. Each tool returns before that, with its state. */
import type { IDataObject, INode } from 'n8n-workflow';
import { clock } from '../../../../nodes/host/clock';
import { TOOL_LIMITS } from '../../../../nodes/host/caller/caller';
import { engineTool, inlineTool, mcpTool, speedUp, timeoutsByClock } from '../../../engine';
import { chatHarness, eventually, sessions } from '../../chatHarness';

const CLIENT_GIVES_UP_MS = 60_000;
const harness = chatHarness('chatSend', {});

beforeEach(() => {
	speedUp(500);
	timeoutsByClock();
});

const NOT_CONFIRMED = "The message was sent, but the service didn't confirm it.";

describe.each([
	['run by the engine', (node: INode) => engineTool(node)],
	['called by the agent', (node: INode) => inlineTool(node)],
	['called for an MCP client', (node: INode) => mcpTool(node, 'patience')],
])('a tool %s', (_name, route) => {
	/** The result for the model, which comes in time by the nodes' clock. */
	async function resultOf(type: string, parameters: IDataObject) {
		const node = await harness.other(type, { sessionId: sessions.open, ...parameters });
		const begun = clock.elapsed();
		const result = await route(node)();
		expect(clock.elapsed() - begun).toBeLessThan(CLIENT_GIVES_UP_MS - 5_000);
		return result;
	}
	const sendMessage = async () =>
		await resultOf('chatSend', {
			...{ operation: 'sendMessage', sendingMethod: 'socket', message: 'please never ack' },
		});

	test('a chat message that the service does not confirm', async () => {
		expect(await sendMessage()).toMatchObject({
			outcome: 'unknown',
			what_happened: NOT_CONFIRMED,
		});
	});

	test('at the time limit, a chat message is not sent if its session gets no connection', async () => {
		harness.simulator().faults.inject({ kind: 'hang', match: { path: /ws_token/ } });
		expect(await sendMessage()).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining('nothing was sent'),
		});
	});

	test('at the time limit, a chat message without a response is unknown, and the connection is closed', async () => {
		jest.replaceProperty(TOOL_LIMITS, 'waitMs', CLIENT_GIVES_UP_MS);
		expect(await sendMessage()).toMatchObject({
			outcome: 'unknown',
			what_happened: NOT_CONFIRMED,
			next_step: expect.stringContaining('Do not repeat this request'),
		});
		await eventually(() => harness.simulator().sessions.openSockets() === 0);
	});
});
