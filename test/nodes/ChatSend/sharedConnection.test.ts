import type { INodeParameters } from 'n8n-workflow';
import { activate, makeWorkflow, speedUp } from '../../engine';
import { eventsOf } from '../ChatEventsTrigger/triggerHarness';
import { chatHarness, eventually, records, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendBy: 'socket',
	sessionId: '={{ $json.session }}',
	message: '={{ $json.text }}',
});
const session = sessions.open;
const send = async (text: string, parameters: INodeParameters = {}) =>
	await harness.run(parameters, { items: [{ text, session }] });
const customerMessages = (id: string = session) =>
	harness
		.simulator()
		.sessions.get(id)
		.messages.filter(({ role }) => role === 'user')
		.map(({ content }) => content);

test('10 concurrent executions with busy acks keep their order', async () => {
	const texts = Array.from({ length: 10 }, (_, index) => `please be busy ${index}`);
	const runs = texts.map(async (text) => await send(text));
	for (const run of await Promise.all(runs)) expect(stopMessage(run).message).toContain('not stop');
	expect([...customerMessages()].sort()).toEqual(texts);
	expect(harness.connections()).toBe(1);
	const frames = harness.simulator().sessions.frames();
	const order = frames.map(({ text }) => text);
	// Each one twice in a row: no other message between a message and its second attempt.
	expect(order.filter((_, index) => index % 2 === 0)).toEqual(
		order.filter((_, index) => index % 2 === 1),
	);
});

test('an active trigger and Chat Send share the connection: the reply is returned, and each event starts one execution', async () => {
	const trigger = await harness.other('chatEventsTrigger', { sessionIds: session });
	const workflow = makeWorkflow([trigger]);
	workflow.id = 'workflow-of-shared';
	const active = await activate(harness.credentials, workflow);
	try {
		expect(records(await send('Hello'))).toMatchObject([{ reply: 'You said: Hello' }]);
		await eventually(() => active.emitted.length >= 2);
		expect(eventsOf(active)).toEqual(['message_received', 'message_received']);
		expect(harness.connections()).toBe(1);
		harness.simulator().sessions.nudge(session);
		await eventually(() => active.emitted.length >= 3);
		expect(active.errors).toEqual([]);
	} finally {
		await active.stop();
	}
});

test('a trigger that waits for its next attempt continues as soon as Chat Send is connected', async () => {
	const trigger = await harness.other('chatEventsTrigger', { sessionIds: session });
	const workflow = makeWorkflow([trigger]);
	workflow.id = 'workflow-of-waiting';
	const active = await activate(harness.credentials, workflow);
	try {
		const { sessions: control, requests } = harness.simulator();
		for (const connections of [1, 2]) {
			await eventually(
				() => harness.connections() === connections && control.openSockets(session) === 1,
			);
			control.closeSockets(4999, session);
		}
		await eventually(() => active.failed.length === 1);
		// Its next attempt is 45 seconds away.
		speedUp(1);
		const before = requests.length;
		expect(records(await send('Hello'))).toMatchObject([{ reply: 'You said: Hello' }]);
		await eventually(() => active.emitted.length >= 2);
		expect(eventsOf(active).slice(-2)).toEqual(['message_received', 'message_received']);
		control.nudge(session);
		await eventually(() => eventsOf(active).at(-1) === 'nudge_sent');
		const opened = requests.slice(before).filter(({ path }) => path.endsWith('/user-stream'));
		expect(opened).toHaveLength(1);
	} finally {
		speedUp(50);
		await active.stop();
	}
});

test('one message to each of 20 sessions: all sent without waiting for an ack', async () => {
	speedUp(500);
	const ids = Array.from({ length: 20 }, () => harness.simulator().sessions.create().sessionId);
	const items = ids.map((id) => ({ text: 'please never ack', session: id }));
	const settings = { onError: 'continueRegularOutput' as const };
	const never = harness.run({}, { items, overrides: settings });
	await eventually(() => harness.simulator().sessions.frames().length === 20);
	expect(records(await never)).toHaveLength(20);
	expect(ids.map((id) => customerMessages(id))).toEqual(ids.map(() => ['please never ack']));
});

test('a message without an ack: reported, and the message of the next execution is sent', async () => {
	speedUp(500);
	const first = send('please never ack');
	await eventually(() => harness.simulator().sessions.frames().length === 1);
	const second = send('two');
	expect(stopMessage(await first).message).toContain("didn't confirm");
	expect(records(await second)).toMatchObject([{ reply: 'You said: two' }]);
});
