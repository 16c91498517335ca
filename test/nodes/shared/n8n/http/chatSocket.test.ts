import { speedUp } from '../../../../engine';
import { chatHarness, eventually, sessions, stopMessage } from '../../../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sendBy: 'socket',
	sessionId: '={{ $json.session }}',
	message: 'please never ack',
	developerSettings: { concurrency: 2 },
});
const items = [sessions.open, sessions.dormant, sessions.open].map((session) => ({ session }));

test('without WebSocket, the message names the required Node.js version', async () => {
	const present = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
	Reflect.deleteProperty(globalThis, 'WebSocket');
	expect(stopMessage(await harness.run({}, { items }))).toMatchObject({
		message: expect.stringContaining('so nothing was sent'),
		description: expect.stringContaining('update Node.js'),
	});
	if (present) Object.defineProperty(globalThis, 'WebSocket', present);
	expect(harness.simulator().requests).toEqual([]);
});

test('Stop closes every connection in use, and later items send nothing', async () => {
	// The messages are waiting for their acks until Stop.
	speedUp(0);
	const { execution } = await harness.start({}, { items });
	const { sessions: control } = harness.simulator();
	await eventually(() => control.frames().length === 2);
	execution.cancel();
	expect((await execution).status).toBe('canceled');
	await eventually(() => control.openSockets() === 0);
	expect([harness.connections(), control.frames().length]).toEqual([2, 2]);
});
