import {
	ackFrame,
	API_TOKEN,
	eventFrame,
	chatConnectionHarness,
	outgoing,
	settle,
	WS_URL,
} from './fakes';

describe('connecting', () => {
	it('mints a token and opens the URL with it', async () => {
		const { connection, socket, mints } = chatConnectionHarness();
		connection.start();
		await settle();
		expect(mints()).toBe(1);
		expect(socket().url).toBe(`${WS_URL}&token=secret-1&client_id=client-1`);
		expect(socket().binaryType).toBe('arraybuffer');
		expect(socket().sent).toEqual([]);
	});

	it('is ready once the socket has stayed open for a moment', async () => {
		const { connection, socket, clock } = chatConnectionHarness();
		let ready = false;
		void connection
			.start()
			.ready()
			.then(() => {
				ready = true;
			});
		await settle();
		socket().opens();
		await clock.advance(499);
		expect(ready).toBe(false);
		await clock.advance(1);
		expect(ready).toBe(true);
		expect(await connection.ready()).toEqual({ kind: 'open' });
	});

	it('hides the token of its socket in events', async () => {
		const { connection, socket, events, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().receives(eventFrame('message_received', 'e-1', { content: 'token secret-1' }));
		socket().receives(eventFrame('mode_changed', 'e-2').replace('{}', '{"to":"secret-1"}'));
		expect(events.map(({ envelope: { payload } }) => payload)).toEqual([
			{ content: 'token [hidden]' },
			{ to: '[hidden]' },
		]);
	});

	it('hides the token of an earlier socket, which may still be valid', async () => {
		const { connection, socket, sockets, clock, events, logged, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		await clock.advance(231_000);
		expect(sockets).toHaveLength(2);
		await connect();
		socket().receives(eventFrame('mode_changed', 'e-1', { was: 'secret-1', is: 'secret-2' }));
		socket().ends(1011, 'secret-1 was replaced');
		await clock.advance(1_000);
		await connect();
		socket().receives(eventFrame('mode_changed', 'e-2', { was: 'secret-1', is: 'secret-2' }));
		const payload = { was: '[hidden]', is: '[hidden]' };
		expect(events).toMatchObject([{ payload }, { payload }]);
		expect(JSON.stringify(logged)).not.toContain('secret-');
	});

	it('hides the API token in events, acknowledgements, and close reasons', async () => {
		const { connection, socket, events, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().receives(eventFrame('message_received', 'e-1', { content: `key ${API_TOKEN}` }));
		expect(events).toMatchObject([{ payload: { content: 'key [hidden]' } }]);
		const acked = connection.sendWithAck(outgoing('frame'), 1_000);
		await settle();
		socket().receives(ackFrame({ state: 'invalid', error: `bad key ${API_TOKEN}` }));
		expect(await acked).toMatchObject({ ack: { payload: { error: 'bad key [hidden]' } } });
		socket().ends(1011, `bad key ${API_TOKEN}`);
		await settle();
		expect(connection.lastFailure?.originalMessage).toBe('close code 1011 · bad key [hidden]');
	});

	it("hides the token in the path of a URL that can't be used", async () => {
		const { connection, endings, logged } = chatConnectionHarness({}, async () => ({
			kind: 'token',
			token: {
				token: 'secret-1',
				ws_url: 'https://h.example.com/secret-1?token=secret-1',
				expires_at: 0,
				stream: 'user',
			},
		}));
		connection.start();
		await settle();
		expect(endings).toMatchObject([
			{ kind: 'bad_url', originalMessage: 'https://h.example.com/[hidden]' },
		]);
		expect(JSON.stringify(logged)).not.toContain('secret-1');
	});

	it('is ready even if a timer fires a little early', async () => {
		const { connection, clock, connect } = chatConnectionHarness();
		const startedAt = clock.elapsed();
		jest.spyOn(clock, 'elapsed').mockReturnValue(startedAt);
		connection.start();
		await connect();
		expect(connection.isConnected).toBe(true);
		expect(await connection.ready()).toEqual({ kind: 'open' });
	});

	it("isn't ready if the service accepts the socket and then rejects it", async () => {
		const { connection, socket, clock } = chatConnectionHarness();
		let isReady = false;
		void connection
			.start()
			.ready()
			.then(() => (isReady = true));
		await settle();
		socket().opens();
		await clock.advance(200);
		socket().ends(1008, 'policy');
		await clock.advance(500);
		expect([isReady, connection.isConnected]).toEqual([false, false]);
		expect(connection.lastFailure).toMatchObject({ kind: 'in_use_or_inactive' });
	});

	it("closes a socket that doesn't open within 15 seconds", async () => {
		const { connection, sockets, socket, clock } = chatConnectionHarness();
		connection.start();
		await settle();
		const silent = socket();
		silent.deaf = true;
		await clock.advance(14_999);
		expect(silent.closeCalls).toEqual([]);
		await clock.advance(1);
		expect(silent.closeCalls).toHaveLength(1);
		await clock.advance(1_000);
		expect(sockets).toHaveLength(2);
		silent.opens();
		silent.receives(eventFrame('nudge_sent', 'late'));
		expect(socket()).not.toBe(silent);
	});

	it('logs each reconnect without the token, but no renewal', async () => {
		const { connection, socket, clock, logged, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		await clock.advance(231_000);
		await connect();
		const again = () => logged.filter(([message]) => message.startsWith('Reconnecting'));
		expect(again()).toEqual([]);
		expect(connection.lastFailure).toBeNull();
		socket().ends(1011, 'secret-2 fell');
		await settle();
		expect(again()).toEqual([
			[
				'Reconnecting to the chat session',
				{ sessionId: 's-1', waitMs: 1_000, originalMessage: 'close code 1011 · [hidden] fell' },
			],
		]);
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

describe('events', () => {
	it('delivers each event once, in order, across reconnects', async () => {
		const { connection, socket, clock, events, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().receives(eventFrame('message_received', 'e1'));
		socket().receives(eventFrame('mode_changed', 'e2', { to: 'support' }));
		socket().receives(eventFrame('mode_changed', 'e2', { to: 'support' }));
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().receives(eventFrame('message_received', 'e1'));
		socket().receives(eventFrame('session_dormant', 'e3', { reason: 'inactivity' }));
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2', 'e3']);
	});

	it('delivers events without an ID every time', async () => {
		const { connection, socket, events, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		socket().receives(eventFrame('nudge_sent', null));
		socket().receives(eventFrame('nudge_sent', null));
		expect(events).toHaveLength(2);
	});

	it.each([
		['message_received', { id: 7, content: 'ok' }],
		['turn_result', { turn_id: 't-1', state: 'default' }],
	])('delivers a %s without an ID once if it is replayed word for word', async (type, payload) => {
		const { connection, clock, socket, events, connect } = chatConnectionHarness();
		connection.start();
		await connect();
		const frame = eventFrame(type, null, payload);
		const unnamed = eventFrame(type, null, { content: 'ok' });
		for (const one of [frame, unnamed]) socket().receives(one);
		socket().breaks();
		await clock.advance(1_000);
		await connect();
		socket().receives(frame);
		expect(events).toHaveLength(2);
		// With another time, or without the ID of its message or turn, it may be another event.
		socket().receives(frame.replace('00:00:00Z', '00:00:01Z'));
		socket().receives(unnamed);
		expect(events).toHaveLength(4);
	});

	it('delivers events that arrive before the connection is ready', async () => {
		const { connection, socket, events } = chatConnectionHarness();
		connection.start();
		await settle();
		socket().opens();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		expect(events).toHaveLength(1);
	});

	it('marks events on a new socket, also after a reconnect or renewal', async () => {
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

	it("counts frames that it can't read, and continues", async () => {
		const { connection, socket, events, connect, logged } = chatConnectionHarness();
		connection.start();
		await connect();
		const large = 'x'.repeat(9_000_000);
		for (const data of [new ArrayBuffer(1), '{', '[]', '{}', large, large]) {
			socket().receives(data);
		}
		socket().receives(ackFrame({ state: 'default' }));
		socket().receives(eventFrame('from_the_future', 'e1'));
		expect(events.map(({ type }) => type)).toEqual(['from_the_future']);
		const ignored = logged.flatMap(([, details]) => details?.why ?? []);
		expect(ignored).toEqual([
			'binary',
			'not_json',
			'not_an_object',
			'no_type',
			'too_large',
			'too_large',
			'unexpected_ack',
		]);
		const others = logged.filter(([message]) => message !== 'Ignored a frame of the chat session');
		expect(others).toEqual([
			[expect.stringContaining("because it's binary"), { sessionId: 's-1' }],
			['A frame of a chat session is too large to read', { sessionId: 's-1', chars: 9_000_000 }],
		]);
	});

	it('warns once about each kind of frame whose content is lost: binary, and nested too deep', async () => {
		const { connection, socket, connect, logged } = chatConnectionHarness();
		connection.start();
		await connect();
		const deep = `{"type":"x","payload":${'{"a":'.repeat(600)}1${'}'.repeat(601)}`;
		for (const data of [new ArrayBuffer(1), deep, 'pong', new ArrayBuffer(2), deep]) {
			socket().receives(data);
		}
		const next =
			'Check the conversation in the service, and report this to your service provider. More of them are logged at the debug level only.';
		expect(logged.filter(([message]) => message !== 'Ignored a frame of the chat session')).toEqual(
			[
				[
					`A frame of a chat session can't be read, because it's binary. ${next}`,
					{ sessionId: 's-1' },
				],
				[
					`A frame of a chat session can't be read, because it's nested more than 500 levels deep. ${next}`,
					{ sessionId: 's-1' },
				],
			],
		);
		await connection.close();
	});

	it('reach the other listeners if one throws', async () => {
		const { connection, socket, connect, logged, events } = chatConnectionHarness();
		const delivered: string[] = [];
		connection.subscribe(() => {
			throw new Error('full');
		});
		connection.subscribe(({ type }) => delivered.push(type));
		connection.start();
		await connect();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		expect([events.length, delivered]).toEqual([1, ['nudge_sent']]);
		expect(logged.map(([message]) => message)).toContain("A chat event couldn't be delivered");
	});

	it('stops delivering after unsubscribe', async () => {
		const { connection, socket, connect } = chatConnectionHarness();
		const seen: string[] = [];
		const unsubscribe = connection.subscribe(({ type }) => {
			seen.push(type);
		});
		connection.start();
		await connect();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		unsubscribe();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect(seen).toEqual(['nudge_sent']);
	});
});
