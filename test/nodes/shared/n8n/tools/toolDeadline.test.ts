/** An MCP client gives up on a tool after 60 seconds: each tool answers before that, and says what it knows. */
import type { IDataObject, INode } from 'n8n-workflow';
import { ACK_TIMEOUT_MS } from '../../../../../nodes/shared/chat/timings';
import { TOOL_LIMITS } from '../../../../../nodes/shared/n8n/tools/toolDeadline';
import { engineTool, inlineTool, mcpTool } from '../../../../engine';
import { chatHarness, eventually, sessions } from '../../../chatHarness';

const CLIENT_GIVES_UP_MS = 60_000;
/** A real half second of another process. */
const SLOW_MACHINE_MS = 25_000;
/** In this harness a pause of the nodes lasts a fiftieth. */
const harness = chatHarness('chatSend', {});

const ROUTES = [
	['run by the engine', (node: INode) => engineTool(harness.credentials, node)],
	['called by the agent', (node: INode) => inlineTool(harness.credentials, node)],
	['called for an MCP client', (node: INode) => mcpTool(harness.credentials, node, 'patience')],
] as const;

/** What the model is told, and after how long by the clock of the nodes. */
async function timed(asking: Promise<IDataObject>) {
	const begun = Date.now();
	const answer = await asking;
	return { answer, ms: (Date.now() - begun) * 50 };
}

test('the limits leave time to answer', () => {
	const { wholeMs, graceMs, waitMs, ackMs } = TOOL_LIMITS;
	expect(wholeMs + graceMs).toBeLessThan(CLIENT_GIVES_UP_MS - 5_000);
	expect(Math.max(waitMs, ackMs)).toBeLessThan(wholeMs);
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
		jest.replaceProperty(TOOL_LIMITS, 'ackMs', 2_000);
		const { answer, ms } = await timed(route(await chat({}))());
		expect(answer).toMatchObject({
			outcome: 'unknown',
			what_happened: 'The message was sent, but the service did not confirm it in time.',
		});
		expect(ms).toBeLessThan(ACK_TIMEOUT_MS - SLOW_MACHINE_MS);
	});

	test('an event that does not come', async () => {
		jest.replaceProperty(TOOL_LIMITS, 'waitMs', 20_000);
		const wait = { operation: 'waitForEvent', sessionId: sessions.open, timeLimit: 3_600 };
		const node = await harness.other('chatSession', wait);
		const { answer, ms } = await timed(route(node)());
		expect(answer).toMatchObject({
			outcome: 'timed_out',
			result: { timed_out: true, event: null },
		});
		expect(ms).toBeLessThan(ACK_TIMEOUT_MS - SLOW_MACHINE_MS);
	});

	describe('when all of its time is over', () => {
		beforeEach(() => {
			jest.replaceProperty(TOOL_LIMITS, 'wholeMs', 200);
		});

		test('a chat message for a session whose connection does not come was not sent', async () => {
			harness.simulator().faults.inject({ kind: 'hang', match: { path: /ws_token/ } });
			expect(await route(await chat({}))()).toMatchObject({
				outcome: 'not_sent',
				what_happened: expect.stringContaining('nothing was sent'),
			});
		});

		test('a chat message whose answer is awaited is unknown, and the connection is given up', async () => {
			jest.replaceProperty(TOOL_LIMITS, 'ackMs', CLIENT_GIVES_UP_MS);
			expect(await route(await chat({}))()).toMatchObject({
				outcome: 'unknown',
				next_step: expect.stringContaining('Do not ask for the same again'),
			});
			await eventually(() => harness.simulator().sessions.openSockets() === 0);
		});
	});
});
