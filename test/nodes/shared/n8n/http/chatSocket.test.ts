import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { ChatSocketPool } from '../../../../../nodes/shared/n8n/http/chatSocket';
import { clock, type AccountClient } from '../../../../../nodes/shared/n8n/http/accountClient';
import { startDeadline } from '../../../../../nodes/shared/n8n/tools/toolDeadline';
import { ChatEnded } from '../../../../../nodes/shared/chat/reconnectPolicy';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import {
	type ChatLease,
	SharedConnections,
} from '../../../../../nodes/shared/chat/sharedConnections';
import { makeNode, makeWorkflow } from '../../../../engine';

const connection = z.custom<AccountClient>().parse({});
const nothing = async () => await Promise.resolve();
type Opened = { session: string; close: jest.Mock; fail: () => void };
let opened: Opened[] = [];

beforeEach(() => {
	opened = [];
	jest.spyOn(SharedConnections.prototype, 'lease').mockImplementation((options) => {
		const close = jest.fn();
		const lease = z
			.custom<ChatLease & { ending: unknown }>()
			.parse({ options, ending: null, close });
		const fail = () => {
			const text = { message: 'The session is in use', resolution: forEveryone('') };
			const ending = new ChatEnded('in_use_or_inactive', text);
			Object.assign(lease, { ending });
			options.onEnded?.(ending);
		};
		opened.push({ session: options.sessionId, close, fail });
		return lease;
	});
});

/** A run that can be stopped, and its pool. */
function run(prepare: (context: IExecuteFunctions) => void = () => {}) {
	const controller = new AbortController();
	const node = makeNode({ type: 'test.sink' });
	const context = z.custom<IExecuteFunctions>().parse({
		getInstanceId: () => 'instance',
		getNode: () => node,
		getWorkflow: () => makeWorkflow([node]),
		getExecutionCancelSignal: () => controller.signal,
		onExecutionCancellation: (stop: () => void) => {
			controller.signal.addEventListener('abort', stop);
		},
	});
	prepare(context);
	return { pool: new ChatSocketPool(context), stop: () => controller.abort() };
}

const closed = () => opened.filter(({ close }) => close.mock.calls.length > 0);

test('without WebSocket, the message names the required Node.js version', async () => {
	const { pool } = run();
	const present = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
	Reflect.deleteProperty(globalThis, 'WebSocket');
	await expect(
		pool.use(connection, 'session', { disconnectOther: false }, nothing),
	).rejects.toMatchObject({
		outcome: 'not_sent',
		isTransient: false,
		resolution: expect.stringContaining('update Node.js'),
	});
	if (present) Object.defineProperty(globalThis, 'WebSocket', present);
	expect(opened).toEqual([]);
});

/** Uses a session until the returned function is called. */
function using(pool: ChatSocketPool, session: string) {
	let end = () => {};
	const used = pool.use(connection, session, { disconnectOther: false }, async () => {
		await new Promise<void>((resolve) => {
			end = resolve;
		});
	});
	return async () => {
		end();
		await used;
	};
}

test('each item ends its connection, which stays open for a moment', async () => {
	const { pool } = run();
	await pool.use(connection, 'session', { disconnectOther: false }, nothing);
	expect(closed().map(({ session }) => session)).toEqual(['session']);
});

test('Stop ends every connection in use, and no other one is opened after it', async () => {
	const { pool, stop } = run();
	const ends = ['a', 'b'].map((session) => using(pool, session));
	expect(closed()).toEqual([]);
	stop();
	expect(closed().map(({ session }) => session)).toEqual(['a', 'b']);
	await expect(
		pool.use(connection, 'later', { disconnectOther: false }, nothing),
	).rejects.toMatchObject({
		outcome: 'not_sent',
		message: 'The execution was stopped before this item',
	});
	await Promise.all(ends.map(async (end) => await end()));
	expect(opened).toHaveLength(2);
});

test('the reason for closing shows whether it was Stop or the time limit of a tool', async () => {
	const { pool, stop } = run();
	const end = using(pool, 'session');
	stop();
	expect(opened[0]?.close).toHaveBeenCalledWith('stopped');
	await end();
	const limit = new AbortController();
	jest.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
	const { pool: ofTool } = run((context) => startDeadline(context, clock));
	const endOfTool = using(ofTool, 'session');
	limit.abort();
	expect(opened[1]?.close).toHaveBeenCalledWith('time_limit');
	await endOfTool();
});
