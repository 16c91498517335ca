import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { setTimeout as realSleep } from 'node:timers/promises';
import { credentialFor } from '../../contract/credentialFor';
import { dialects, startSimulator, type Simulator } from '../../simulator';
import { chatHarness, eventually, records, sessions } from '../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sessionId: sessions.open,
	options: { replyTimeLimit: 15 },
});

/** One of several messages in a session, each sent in its own execution. */
const message = fc.record({
	sendBy: fc.constantFrom('socket', 'inbound', 'async'),
	text: fc.constantFrom('Hello', 'please answer slowly', 'please check first', 'please merge'),
	hasKey: fc.boolean(),
	/** Milliseconds. A slow turn takes 200. */
	after: fc.integer({ min: 0, max: 120 }),
	isRepeated: fc.boolean(),
});
type Message = typeof message extends fc.Arbitrary<infer T> ? T : never;

function parametersOf({ sendBy, hasKey }: Message, text: string): INodeParameters {
	if (sendBy === 'inbound') return { sendBy, message: text, options: {} };
	return {
		sendBy,
		message: text,
		...(hasKey && { idempotency: 'own', idempotencyKey: text }),
		...(sendBy === 'async' && { waitForReply: true }),
	};
}

/** Every `reply` in the node's output, at any depth of the dialect. */
function repliesIn(value: unknown): unknown[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, inner]: [string, unknown]): unknown[] =>
		name === 'reply' ? [inner] : repliesIn(inner),
	);
}

describe.each(Object.values(dialects))('overlapping turns, $name', (dialect) => {
	let simulator: Simulator;

	beforeAll(async () => {
		simulator = await startSimulator({ dialect });
	});
	afterAll(async () => {
		await simulator.stop();
	});

	const send = async (one: Message, text: string) => {
		await realSleep(one.after);
		const setting = { credential: credentialFor(simulator) };
		const runs = [await harness.run(parametersOf(one, text), setting)];
		if (one.isRepeated && one.hasKey && one.sendBy !== 'inbound')
			runs.push(await harness.run(parametersOf(one, text), setting));
		return runs.flatMap((run) => repliesIn(records(run)));
	};

	test('a reply belongs to its message, or is null', async () => {
		const some = fc.array(message, { minLength: 2, maxLength: 4 });
		await fc.assert(
			fc.asyncProperty(some, async (messages) => {
				simulator.reset();
				const texts = messages.map(({ text }, index) => `${text} (${index})`);
				const replies = await Promise.all(
					messages.map(async (one, index) => await send(one, texts[index] ?? '')),
				);
				const { messages: conversation } = simulator.sessions.get(sessions.open);
				const agentMessages = conversation
					.filter(({ role }) => role === 'ai')
					.map(({ content }) => content);
				replies.forEach((ofMessage, index) => {
					for (const reply of ofMessage.filter((one) => one !== null)) {
						// A complete message of the agent that contains the text of the message.
						expect(agentMessages).toContain(reply);
						expect(reply).toContain(texts[index]);
					}
				});
				// No message was accepted twice.
				const accepted = conversation
					.filter(({ role }) => role === 'user')
					.map(({ content }) => content);
				expect(accepted.toSorted()).toEqual([...new Set(accepted)].toSorted());
				await eventually(() => simulator.sessions.connectedSockets() === 0);
			}),
			{ numRuns: Number(process.env.FUZZ_RUNS ?? 8) },
		);
	}, 600_000);
});
