/** An MCP client stops waiting for a tool after 60 seconds. Each tool returns before that, with its state. */
import type { IDataObject, INode } from 'n8n-workflow';
import { clock } from '../../../../../nodes/shared/n8n/http/accountClient';
import { TOOL_LIMITS } from '../../../../../nodes/shared/n8n/tools/toolRun';
import { engineTool, inlineTool, mcpTool, speedUp, timeoutsByClock } from '../../../../engine';
import { chatHarness, eventually, sessions } from '../../../chatHarness';

const CLIENT_GIVES_UP_MS = 60_000;
const harness = chatHarness('chatSend', {});

beforeEach(() => {
	speedUp(500);
	timeoutsByClock();
});

const ROUTES = [
	['run by the engine', (node: INode) => engineTool(node)],
	['called by the agent', (node: INode) => inlineTool(node)],
	['called for an MCP client', (node: INode) => mcpTool(node, 'patience')],
] as const;

/** The result for the model, and the time it took by the nodes' clock. */
async function timed(asking: Promise<IDataObject>) {
	const begun = clock.elapsed();
	const result = await asking;
	return { result, ms: clock.elapsed() - begun };
}

test('the limits leave time to return', () => {
	const { wholeMs, graceMs, waitMs } = TOOL_LIMITS;
	expect(wholeMs + graceMs).toBeLessThan(CLIENT_GIVES_UP_MS - 5_000);
	expect(waitMs).toBeLessThan(wholeMs);
});

describe.each(ROUTES)('a tool %s', (_name, route) => {
	const chat = async (parameters: IDataObject) =>
		await harness.other('chatSend', {
			operation: 'sendMessage',
			sendBy: 'socket',
			sessionId: sessions.open,
			message: 'please never ack',
			...parameters,
		});

	test('a chat message that the service does not confirm', async () => {
		const { result, ms } = await timed(route(await chat({}))());
		expect(result).toMatchObject({
			outcome: 'unknown',
			what_happened: "The message was sent, but the service didn't confirm it.",
		});
		expect(ms).toBeLessThan(CLIENT_GIVES_UP_MS);
	});

	test('an event that does not arrive', async () => {
		const wait = { operation: 'waitForEvent', sessionId: sessions.open, timeLimit: 3_600 };
		const node = await harness.other('chatSession', wait);
		const { result, ms } = await timed(route(node)());
		expect(result).toMatchObject({
			outcome: 'timed_out',
			what_happened: 'The wait timed out before this happened. Nothing was changed.',
			next_step: expect.stringContaining('Repeat this request to wait longer.'),
			result: { timed_out: true, event: null },
		});
		expect(ms).toBeLessThan(CLIENT_GIVES_UP_MS);
	});

	describe('at the time limit', () => {
		test('a chat message is not sent if its session gets no connection', async () => {
			harness.simulator().faults.inject({ kind: 'hang', match: { path: /ws_token/ } });
			expect(await route(await chat({}))()).toMatchObject({
				outcome: 'not_sent',
				what_happened: expect.stringContaining('nothing was sent'),
			});
		});

		test('a chat message without a response is unknown, and the connection is closed', async () => {
			jest.replaceProperty(TOOL_LIMITS, 'waitMs', CLIENT_GIVES_UP_MS);
			expect(await route(await chat({}))()).toMatchObject({
				outcome: 'unknown',
				what_happened: "The message was sent, but the service didn't confirm it.",
				next_step: expect.stringContaining('Do not repeat this request'),
			});
			await eventually(() => harness.simulator().sessions.openSockets() === 0);
		});
	});
});
