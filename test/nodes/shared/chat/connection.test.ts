import {
	ackFrame,
	API_TOKEN,
	chatConnectionHarness,
	type ChatHarness,
	closedSession,
	connected,
	eventFrame,
	freshToken,
	messageSent,
	outgoing,
	SESSION_ID,
	settle,
	WS_URL,
} from './fakes';

const queries = ({ sockets }: ChatHarness, name: string) =>
	sockets.map(({ query }) => query.get(name));

/** The service opens the latest socket and then closes it at once. */
async function reject({ socket, clock }: ChatHarness, code: number, seconds: number) {
	socket().opens();
	socket().ends(code);
	await clock.advance(seconds * 1_000);
}

describe('connecting', () => {
	it('mints a token, opens the URL with it, and is ready once the socket has stayed open for a moment', async () => {
		const { connection, socket, clock, mints } = chatConnectionHarness();
		let isReady = false;
		const ready = connection.start().ready(connection.signal);
		void ready.then(() => (isReady = true));
		await settle();
		expect(mints()).toBe(1);
		expect(socket().url).toBe(`${WS_URL}&token=secret-1&client_id=client-1`);
		expect(socket().binaryType).toBe('arraybuffer');
		socket().opens();
		await clock.advance(499);
		expect(isReady).toBe(false);
		await clock.advance(1);
		expect(await ready).toBe(true);
		expect(socket().sent).toEqual([]);
	});

	it("closes a socket that doesn't open within 15 seconds", async () => {
		const { connection, sockets, socket, clock } = chatConnectionHarness();
		connection.start();
		await settle();
		const silent = socket();
		silent.deaf = true;
		await clock.advance(14_999);
		expect(silent.closeCalls).toEqual([]);
		await clock.advance(1_001);
		expect([silent.closeCalls.length, sockets.length]).toEqual([1, 2]);
		silent.opens();
		silent.receives(eventFrame('nudge_sent', 'late'));
		expect(socket()).not.toBe(silent);
	});

	it("handles a socket that can't be created", async () => {
		const { connection, failures, clock, logged } = chatConnectionHarness({
			openSocket: (url) => {
				throw new SyntaxError(`bad URL ${url}`);
			},
		});
		connection.start();
		await clock.advance(120_000);
		expect(failures[0]).toMatchObject({ kind: 'unreachable', originalMessage: undefined });
		expect(JSON.stringify([logged, failures])).not.toContain('secret');
	});
});

describe('secrets are hidden', () => {
	it('in events and close reasons: the tokens of this socket and of earlier ones', async () => {
		const { connection, socket, clock, events, logged, connect } = await connected();
		const was = { was: 'secret-1', is: `the "secret-2"` };
		socket().receives(eventFrame('mode_changed', 'e-1', was));
		await clock.advance(231_000);
		await connect();
		socket().receives(eventFrame('mode_changed', 'e-2', was));
		socket().ends(1011, 'secret-1 was replaced');
		await clock.advance(1_000);
		expect(events).toMatchObject([
			{ payload: { was: '[hidden]', is: 'the "secret-2"' } },
			{ envelope: { payload: { was: '[hidden]', is: 'the "[hidden]"' } } },
		]);
		const originalMessage = 'close code 1011 · [hidden] was replaced';
		const details = { sessionId: SESSION_ID, waitMs: 1_000, originalMessage };
		// The renewal isn't logged.
		expect(logged).toEqual([['Reconnecting to the chat session', details]]);
		await connection.close();
	});

	it('in events, acknowledgements, and close reasons: the API token', async () => {
		const { connection, socket, events, failures } = await connected();
		socket().receives(eventFrame('message_received', 'e-1', { content: `key ${API_TOKEN}` }));
		expect(events).toMatchObject([{ payload: { content: 'key [hidden]' } }]);
		const acked = connection.sendWithAck(outgoing('frame'), 1_000, connection.signal);
		await settle();
		socket().receives(ackFrame({ state: 'invalid', error: `bad key ${API_TOKEN}` }));
		expect(await acked).toMatchObject({ ack: { payload: { error: 'bad key [hidden]' } } });
		socket().ends(1011, `bad key ${API_TOKEN}`);
		await settle();
		expect(failures[0]?.originalMessage).toBe('close code 1011 · bad key [hidden]');
	});

	it.each([
		['https://h/p?token=secret-1', 'https://h/p'],
		['https://h/secret-1', 'https://h/[hidden]'],
	])("in a URL that isn't a WebSocket URL, which ends the connection: %s", async (...one) => {
		const [ws_url, originalMessage] = one;
		const token = { token: 'secret-1', ws_url };
		const harness = chatConnectionHarness({}, async () => token);
		harness.connection.start();
		await settle();
		expect(harness.sockets).toHaveLength(0);
		expect(harness.endings).toMatchObject([
			{ message: "The service returned a WebSocket URL that n8n can't use", originalMessage },
		]);
		expect(JSON.stringify(harness.logged)).not.toContain('secret-1');
	});
});

describe('events', () => {
	it('are marked on a new socket, also after a reconnect or renewal', async () => {
		const { connection, clock, socket, connect } = chatConnectionHarness();
		const marked: string[] = [];
		connection.subscribe(({ eventId }, replay) => {
			if (replay === 'possible') marked.push(eventId ?? '');
		});
		connection.start();
		for (const name of ['connecting', 'reconnecting', 'renewing']) {
			await settle();
			socket().opens();
			socket().receives(eventFrame('nudge_sent', name));
			await clock.advance(500);
			socket().receives(eventFrame('nudge_sent', `after ${name}`));
			if (name === 'connecting') socket().ends(1011);
			await clock.advance(name === 'connecting' ? 1_000 : 231_000);
		}
		await connect();
		expect(marked).toEqual(['connecting', 'reconnecting', 'renewing']);
		await connection.close();
	});

	it('continue after frames that nobody can read, and if a listener throws', async () => {
		const { connection, socket, events, logged } = await connected();
		const noState = ackFrame({ state: 1 });
		const unreadable = [new ArrayBuffer(1), '', '{', '[]', '{}', '{"type":5}', noState];
		for (const data of [...unreadable, ackFrame({ state: 'default' })]) {
			socket().receives(data);
		}
		const details = { sessionId: SESSION_ID };
		expect(logged).toEqual([
			...unreadable.map(() => ["The chat session ignored a frame that can't be read", details]),
			['The chat session ignored an ack that nobody waits for', details],
		]);
		const delivered: string[] = [];
		connection.subscribe(() => {
			throw new Error('full');
		});
		connection.subscribe(({ type }) => delivered.push(type));
		socket().receives(eventFrame('from_the_future', 7));
		expect(events.map(({ eventId }) => eventId)).toEqual(['7']);
		expect(delivered).toEqual(['from_the_future']);
		expect(logged.at(-1)?.[0]).toBe("A chat event couldn't be delivered");
	});
});

describe('frames that name', () => {
	it("another session are neither events nor acks of this one, and don't close it", async () => {
		const { connection, socket, events, logged } = await connected();
		const acked = connection.sendWithAck(outgoing('frame'), 1_000, connection.signal);
		await settle();
		socket().receives(eventFrame('message_received', 'e-1', {}, 's-2'));
		socket().receives(eventFrame('session_closed', 'e-2', {}, 's-2'));
		socket().receives(ackFrame({ state: 'default', reply: "another person's" }, 's-2'));
		expect([events, connection.isConnected]).toEqual([[], true]);
		expect(logged).toEqual(
			Array(3).fill([
				'The chat session ignored a frame of another session',
				{ sessionId: SESSION_ID },
			]),
		);
		socket().receives(messageSent);
		expect(await acked).toMatchObject({ ack: { payload: { reply: 'hello' } } });
	});

	it.each([[SESSION_ID.toUpperCase()], [undefined], [null], ['']])(
		'%j as their session are used',
		async (name) => {
			const { connection, socket, events } = await connected();
			const acked = connection.sendWithAck(outgoing('frame'), 1_000, connection.signal);
			await settle();
			socket().receives(eventFrame('message_received', 'e-1', {}, name));
			socket().receives(ackFrame({ state: 'default' }, name));
			expect(events).toHaveLength(1);
			expect(await acked).toMatchObject({ kind: 'ack' });
		},
	);
});

describe('reconnecting', () => {
	it('keeps client_id and token after 1011, and uses a new token after 4401', async () => {
		const harness = chatConnectionHarness();
		const { connection, socket, clock, connect } = harness;
		connection.start();
		for (const code of [1011, 4401, 1006]) {
			await connect();
			socket().ends(code);
			await clock.advance(10_000);
		}
		expect(queries(harness, 'token')).toEqual([1, 1, 2, 2].map((n) => `secret-${n}`));
		expect(new Set(queries(harness, 'client_id'))).toEqual(new Set(['client-1']));
		await connection.close();
	});

	it('sends claim=1 with Disconnect Other Connection, also if the service still rejects it', async () => {
		const harness = chatConnectionHarness({ disconnectOther: true });
		const { connection } = harness;
		connection.start();
		await settle();
		for (const seconds of [1, 20, 0]) await reject(harness, 1008, seconds);
		expect(queries(harness, 'claim')).toEqual(['1', '1', '1']);
		expect(harness.failures.at(-1)?.kind).toBe('rejected');
		await connection.close();
	});

	it.each([1000, 1008, 4409])(
		'makes no claim after a loss (%d), also if the service then rejects it',
		async (code) => {
			const harness = await connected({ disconnectOther: true });
			const { connection, socket, clock } = harness;
			socket().ends(code, 'taken over');
			await clock.advance(1_000);
			await reject(harness, 1008, 20);
			const [first, ...later] = queries(harness, 'claim');
			expect([first, later.length > 1, new Set(later)]).toEqual(['1', true, new Set([null])]);
			await connection.close();
		},
	);
});

describe('before the token expires, the connection', () => {
	const onlyOneToken = async (n: number) => {
		if (n === 1) return await freshToken(n);
		throw new Error('down');
	};

	it('mints a token, closes the socket, and opens the next one at once, with the same client_id and without a claim', async () => {
		const harness = await connected({ disconnectOther: true });
		const { connection, sockets, socket, clock, mints, connect, failures } = harness;
		const [old] = sockets;
		await clock.advance(224_000);
		expect(sockets).toHaveLength(1);
		await clock.advance(1_000);
		expect([mints(), sockets.length, old?.closeCalls]).toEqual([2, 2, [1000]]);
		expect(Object.fromEntries(socket().query)).toEqual({
			shard: '4',
			token: 'secret-2',
			client_id: 'client-1',
		});
		expect(connection.isConnected).toBe(false);
		await connect();
		expect(connection.isConnected).toBe(true);
		expect(failures).toEqual([]);
		await connection.close();
	});

	it('replaces a socket that broke without notice, 2 seconds after closing it', async () => {
		const { connection, sockets, socket, clock, connect, events } = await connected();
		socket().deaf = true;
		await clock.advance(225_000);
		expect([socket().closeCalls, sockets.length]).toEqual([[1000], 1]);
		await clock.advance(2_000);
		expect(sockets).toHaveLength(2);
		await connect();
		socket().receives(eventFrame('nudge_sent', 'missed'));
		expect(events).toHaveLength(1);
		await connection.close();
	});

	it('waits until the frame in flight has its ack, before the next frame', async () => {
		const { connection, sockets, socket, clock, connect } = await connected();
		await clock.advance(150_000);
		const result = connection.sendWithAck(outgoing('slow'), 120_000, connection.signal);
		await clock.advance(110_000);
		const next = connection.sendWithAck(outgoing('next'), 120_000, connection.signal);
		await settle();
		expect([sockets.length, socket().closeCalls]).toEqual([1, []]);
		socket().receives(messageSent);
		expect((await result).kind).toBe('ack');
		await connect();
		expect(sockets.map(({ sent }) => sent)).toEqual([['slow'], ['next']]);
		socket().receives(messageSent);
		expect((await next).kind).toBe('ack');
		await connection.close();
	});

	it('stays open if no token is issued, logs it, and tries again after 30 seconds', async () => {
		const use = await connected({}, onlyOneToken);
		const { connection, mints, clock, logged, socket, sockets } = use;
		await clock.advance(226_000);
		expect(logged.at(-1)).toEqual([
			"The token of a chat session couldn't be renewed yet",
			{ sessionId: SESSION_ID, originalMessage: 'down' },
		]);
		expect([connection.isConnected, mints()]).toEqual([true, 2]);
		await clock.advance(30_000);
		expect(mints()).toBe(3);
		// A reconnect doesn't use the old token anymore.
		socket().ends(1011);
		await clock.advance(1_000);
		expect([sockets.length, use.failures.at(-1)?.kind]).toEqual([1, 'unreachable']);
		await connection.close();
	});

	it('ends if the token request shows that the session is closed', async () => {
		const { clock, endings } = await connected({}, async (n) => {
			if (n === 2) throw closedSession();
			return await freshToken(n);
		});
		await clock.advance(260_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
	});
});

describe('the end of a session', () => {
	it('delivers trailing events, then ends without another connection', async () => {
		const { sockets, socket, clock, events, endings } = await connected();
		socket().receives(eventFrame('session_closed', 'e1'));
		await clock.advance(1_000);
		socket().receives(eventFrame('message_received', 'e2'));
		await clock.advance(999);
		expect(socket().closeCalls).toEqual([]);
		await clock.advance(1);
		expect(socket().closeCalls).toEqual([1000]);
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2']);
		await clock.advance(60_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		expect(sockets).toHaveLength(1);
	});

	it('is recognized if the service then closes the socket as for a rejected token', async () => {
		const { sockets, socket, clock, endings } = await connected();
		socket().receives(eventFrame('session_closed', 'e1'));
		socket().ends(4401);
		await clock.advance(60_000);
		expect(endings.map(({ kind }) => kind)).toEqual(['session_closed']);
		expect(sockets).toHaveLength(1);
	});
});

describe('close', () => {
	const start = async ({ connection }: ChatHarness) => {
		connection.start();
		await settle();
	};
	const startAndConnect = async (harness: ChatHarness) => {
		await start(harness);
		await harness.connect();
	};

	it.each<[string, number, number, (harness: ChatHarness) => Promise<void>]>([
		['before the start', 0, 0, async () => {}],
		['while connecting', 1, 1, start],
		[
			'while waiting for the next attempt',
			1,
			0,
			async (harness) => {
				await start(harness);
				harness.socket().breaks();
			},
		],
		['while connected', 1, 1, startAndConnect],
		[
			'during a renewal',
			2,
			1,
			async (harness) => {
				await startAndConnect(harness);
				await harness.clock.advance(225_000);
			},
		],
	])('%s: closes the socket, leaves no timer, and makes no callback', async (...one) => {
		const [, sockets, closes, prepare] = one;
		const harness = chatConnectionHarness();
		await prepare(harness);
		await settle();
		const failures = [...harness.failures];
		await harness.connection.close();
		await harness.connection.close();
		if (sockets > 0) harness.socket().receives(eventFrame('nudge_sent', 'late'));
		harness.connection.start();
		await harness.clock.advance(600_000);
		expect([harness.sockets.length, harness.clock.pending]).toEqual([sockets, 0]);
		expect(harness.sockets.at(-1)?.closeCalls.length ?? 0).toBe(closes);
		expect([harness.events, harness.endings, harness.failures]).toEqual([[], [], failures]);
		expect(await harness.connection.ready(harness.connection.signal)).toBe(false);
		expect(harness.connection.signal.aborted).toBe(true);
	});

	it("waits at most 2 seconds for a service that doesn't respond, and ignores its frames", async () => {
		const { connection, socket, clock, events } = await connected();
		socket().deaf = true;
		let isClosed = false;
		void connection.close().then(() => (isClosed = true));
		void connection.close();
		expect(socket().closeCalls).toHaveLength(1);
		socket().receives(eventFrame('nudge_sent', 'late'));
		await clock.advance(1_999);
		expect(isClosed).toBe(false);
		await clock.advance(1);
		expect([isClosed, events]).toEqual([true, []]);
		await clock.advance(1_000);
		expect(clock.pending).toBe(0);
	});

	it('while a token is requested: no socket is opened when it arrives', async () => {
		let issueToken: () => void = () => undefined;
		const { connection, sockets, clock } = chatConnectionHarness({}, async (n) => {
			await new Promise<void>((resolve) => (issueToken = resolve));
			return await freshToken(n);
		});
		const ready = connection.start().ready(connection.signal);
		await settle();
		await connection.close();
		expect(await ready).toBe(false);
		issueToken();
		await settle();
		expect([sockets.length, clock.pending]).toEqual([0, 0]);
	});
});
