import type { INodeParameters } from 'n8n-workflow';
import { engineTool, speedUp, records } from '../../engine';
import { chatHarness, eventually, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendBy: 'socket',
	sessionId: sessions.open,
	message: '={{ $json.text }}',
});
const send = async (text: string, parameters: INodeParameters = {}) =>
	await harness.run(parameters, { items: [{ text }] });

const frames = () =>
	harness
		.simulator()
		.sessions.frames()
		.map(({ text }): unknown => JSON.parse(text));
const customerMessages = (id: string = sessions.open) =>
	harness
		.simulator()
		.sessions.get(id)
		.messages.filter(({ role }) => role === 'user')
		.map(({ content }) => content);

test('a message to a person who has taken over says why it has no reply, to a model in one sentence', async () => {
	harness.simulator().sessions.setMode(sessions.open, 'support');
	const why = "A person has taken over this chat, so the agent doesn't reply.";
	expect(records(await send('Hello'))).toMatchObject([
		{ reply: null, mode: 'support', reply_hint: expect.stringMatching(`^${why} .*mode_changed`) },
	]);
	const parameters = { sendBy: 'socket', sessionId: sessions.open, message: 'Are you there?' };
	const tool = engineTool(await harness.other('chatSend', parameters));
	expect(await tool({})).toMatchObject({ result: { reply: null, reply_hint: why } });
});

test.each([
	['response', 'Response'],
	['option', 'Option ID'],
])('an answer to an interactive message by %s must not be empty', async (answerWith, field) => {
	const empty = '={{ "" }}';
	const answer = { answerWith, response: empty, optionId: empty };
	const parameters = { operation: 'answerInteraction', interactionId: 'i-1', ...answer };
	expect(stopMessage(await send('', parameters)).message).toBe(`'${field}' is empty`);
	expect(frames()).toEqual([]);
});

test('nothing is sent if another client is connected', async () => {
	const desk = await harness.otherClient(sessions.open);
	const { message } = stopMessage(await send('Hello'));
	desk.close();
	expect(message).toContain('so nothing was sent');
});

test("Retry On Fail doesn't send a message with an unknown outcome again", async () => {
	const over = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const run = await harness.run(
		{},
		{ items: [{ text: 'One' }, { text: 'please drop me' }], overrides: over },
	);
	expect(stopMessage(run).message).toContain("didn't confirm it");
	expect(stopMessage(run).description).toContain('Completed in this run: row 1.');
	expect(customerMessages()).toEqual(['One', 'please drop me']);
});

test('a replay has the first reply', async () => {
	const key = { idempotencyKey: 'k-1' };
	await send('Hello', key);
	const [replayed] = records(await send('Hello', key));
	expect(replayed).toMatchObject({ state: 'accepted', reply: 'You said: Hello' });
	expect(customerMessages()).toEqual(['Hello']);
});

test('an ack with an undocumented state and no error is passed through', async () => {
	const sending = send('please never ack');
	await eventually(() => frames().length === 1);
	const payload = { state: 'queued', position: 3 };
	const ack = JSON.stringify({ type: 'ws_write_result', payload });
	harness.simulator().sessions.pushRaw(sessions.open, ack);
	expect(records(await sending)).toEqual([{ session_id: sessions.open, ...payload }]);
});

test('a message with a key whose connection breaks is sent again, and accepted once', async () => {
	const sending = send('please answer slowly', { idempotencyKey: 'row 7' });
	await eventually(() => frames().length === 1);
	harness.simulator().sessions.cutSockets();
	// The second ack reports that the message was accepted before.
	expect(records(await sending)).toMatchObject([
		{ state: 'accepted', turn_id: expect.any(String) },
	]);
	expect(new Set(frames().map((frame) => JSON.stringify(frame))).size).toBe(1);
	expect(customerMessages()).toEqual(['please answer slowly']);
});

test('upper and lower case are the same session: one connection, messages in order, the same key', async () => {
	const items = [sessions.open, sessions.open.toUpperCase()].flatMap((session) =>
		['please be busy', 'two'].map((text) => ({ session, text })),
	);
	const parameters = {
		sessionId: '={{ $json.session }}',
		idempotencyKey: '={{ $json.text }}',
		developerSettings: { concurrency: 4 },
	};
	const output = records(await harness.run(parameters, { items }));
	expect(output.map(({ reply }) => reply)).toEqual(items.map(({ text }) => `You said: ${text}`));
	expect(customerMessages()).toEqual(['please be busy', 'two']);
	expect(harness.connections()).toBe(1);
});

test('10 concurrent executions share a connection, and no message comes between the attempts of another one', async () => {
	const texts = Array.from({ length: 10 }, (_, index) => `please be busy ${index}`);
	const runs = texts.map(async (text) => await send(text));
	for (const run of await Promise.all(runs)) expect(stopMessage(run).message).toContain('not stop');
	expect(customerMessages().sort()).toEqual(texts);
	expect(harness.connections()).toBe(1);
	const order = frames().map((frame) => JSON.stringify(frame));
	expect(order.filter((_, index) => index % 2 === 0)).toEqual(
		order.filter((_, index) => index % 2 === 1),
	);
});

test('messages to 20 sessions are sent without waiting for an ack', async () => {
	speedUp(500);
	const ids = Array.from({ length: 20 }, () => harness.simulator().sessions.create().sessionId);
	const items = ids.map((id) => ({ text: 'please never ack', session: id }));
	const never = harness.run({ sessionId: '={{ $json.session }}' }, { items });
	await eventually(() => frames().length === 20);
	await never;
	expect(ids.map((id) => customerMessages(id))).toEqual(ids.map(() => ['please never ack']));
});

test('a session in use by another client: rejected, or taken over', async () => {
	const other = await harness.otherClient(sessions.open);
	expect(stopMessage(await send('Hello')).description).toContain(
		"turn on 'Disconnect Other Connection'",
	);
	expect(records(await send('Hello', { disconnectOther: true }))).toMatchObject([
		{ state: 'default' },
	]);
	other.close();
	expect(customerMessages()).toEqual(['Hello']);
});

test('a key whose expression returns nothing is rejected before anything is sent', async () => {
	const run = await send('Hello', { idempotencyKey: '={{ $json.none }}' });
	expect(stopMessage(run).message).toContain("'Idempotency Key'");
	expect(harness.simulator().requests).toEqual([]);
});
