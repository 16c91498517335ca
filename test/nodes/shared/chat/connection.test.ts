import { ackFrame, eventFrame, chatConnectionHarness, settle, WS_URL } from './fakes';

describe('connecting', () => {
	it('mints a token and opens the address with it', async () => {
		const { connection, socket, mints } = chatConnectionHarness();
		connection.start();
		await settle();
		expect(mints()).toBe(1);
		expect(socket().url).toBe(`${WS_URL}&token=secret-1&client_id=client-1`);
		expect(socket().binaryType).toBe('arraybuffer');
		expect(socket().sent).toEqual([]);
	});

	it('starts once only', async () => {
		const { connection, sockets } = chatConnectionHarness();
		connection.start().start();
		await settle();
		expect(sockets).toHaveLength(1);
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

	it('gives out no event with the token of its socket in it', async () => {
		const { connection, socket, events, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		socket().receives(eventFrame('message_received', 'e-1', { content: 'token secret-1' }));
		socket().receives(eventFrame('mode_changed', 'e-2').replace('{}', '{"to":"\\u0073ecret-1"}'));
		expect(events.map(({ envelope: { payload } }) => payload)).toEqual([
			{ content: 'token [hidden]' },
			{ to: '[hidden]' },
		]);
	});

	it('is not ready when the service lets it in only to reject it', async () => {
		const { connection, socket, clock } = chatConnectionHarness({ slowPolls: 0 });
		const ready = connection.start().ready();
		await settle();
		for (let attempt = 0; attempt < 2; attempt += 1) {
			socket().opens();
			await clock.advance(200);
			socket().ends(1008, 'policy');
			await clock.advance(1_000);
		}
		expect(await ready).toMatchObject({ kind: 'ended', ending: { kind: 'held_or_inactive' } });
	});

	it('gives up a socket that neither opens nor closes after 15 s', async () => {
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

	it('tells the log of each further attempt, without its token, and not of a replacement', async () => {
		const onSetback = jest.fn();
		const { connection, socket, clock, logged, hold } = chatConnectionHarness({ onSetback });
		connection.start();
		await hold();
		await clock.advance(271_000);
		socket().opens();
		await clock.advance(1_000);
		const again = () => logged.filter(([message]) => message.startsWith('Connecting'));
		expect(again()).toEqual([]);
		expect(onSetback).not.toHaveBeenCalled();
		socket().ends(1011, 'secret-2 fell');
		await settle();
		expect(again()).toEqual([
			[
				'Connecting to the chat session again',
				{ sessionId: 's-1', waitMs: 1_000, originalMessage: 'close code 1011 · [hidden] fell' },
			],
		]);
		expect(onSetback).toHaveBeenCalledTimes(1);
	});

	it('survives a socket that cannot even be created', async () => {
		const { connection, endings, clock, logged } = chatConnectionHarness({
			openSocket: (url) => {
				throw new SyntaxError(`bad address ${url}`);
			},
		});
		connection.start();
		await clock.advance(120_000);
		expect(endings).toMatchObject([{ kind: 'unreachable', originalMessage: undefined }]);
		expect(JSON.stringify([logged, endings])).not.toContain('secret');
	});
});

describe('events', () => {
	it('hands on each event once, in order, across reconnects', async () => {
		const { connection, socket, clock, events, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		socket().receives(eventFrame('message_received', 'e1'));
		socket().receives(eventFrame('mode_changed', 'e2', { to: 'support' }));
		socket().receives(eventFrame('mode_changed', 'e2', { to: 'support' }));
		socket().breaks();
		await clock.advance(1_000);
		await hold();
		socket().receives(eventFrame('message_received', 'e1'));
		socket().receives(eventFrame('session_dormant', 'e3', { reason: 'inactivity' }));
		expect(events.map(({ eventId }) => eventId)).toEqual(['e1', 'e2', 'e3']);
		expect(connection.counts).toEqual({ duplicate: 2 });
	});

	it('hands on events without an id every time', async () => {
		const { connection, socket, events, hold } = chatConnectionHarness();
		connection.start();
		await hold();
		socket().receives(eventFrame('nudge_sent', null));
		socket().receives(eventFrame('nudge_sent', null));
		expect(events).toHaveLength(2);
	});

	it.each([
		['message_received', { id: 7, content: 'ok' }],
		['turn_result', { turn_id: 't-1', state: 'default' }],
	])(
		'takes a %s without an id that comes on two sockets at once for one',
		async (type, payload) => {
			const { connection, clock, sockets, socket, events, hold } = chatConnectionHarness();
			connection.start();
			await hold();
			await clock.advance(270_000);
			expect(sockets).toHaveLength(2);
			socket().opens();
			const came = eventFrame(type, null, payload);
			for (const one of sockets) one.receives(came);
			expect(events).toHaveLength(1);
			// The same words at another time, or with nothing that names them, may be another event.
			socket().receives(came.replace('00:00:00Z', '00:00:01Z'));
			expect(events).toHaveLength(2);
			const unnamed = eventFrame(type, null, { content: 'ok' });
			for (const one of sockets) one.receives(unnamed);
			expect(events).toHaveLength(4);
		},
	);

	it('takes events that arrive before the connection counts as held', async () => {
		const { connection, socket, events } = chatConnectionHarness();
		connection.start();
		await settle();
		socket().opens();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		expect(events).toHaveLength(1);
	});

	it('counts what it cannot read and goes on', async () => {
		const { connection, socket, events, hold, logged } = chatConnectionHarness();
		connection.start();
		await hold();
		const large = 'x'.repeat(9_000_000);
		for (const data of [new ArrayBuffer(1), '{', '[]', '{}', large, large]) {
			socket().receives(data);
		}
		socket().receives(ackFrame({ state: 'default' }));
		socket().receives(eventFrame('from_the_future', 'e1'));
		expect(events.map(({ type }) => type)).toEqual(['from_the_future']);
		expect(connection.counts).toEqual({
			binary: 1,
			not_json: 1,
			not_an_object: 1,
			no_type: 1,
			too_large: 2,
			unexpected_ack: 1,
		});
		const told = logged.filter(([message]) => message !== 'Frame of the chat session left out');
		expect(told).toEqual([
			['A frame of a chat session is too large to be read', { sessionId: 's-1', chars: 9_000_000 }],
		]);
	});

	it('gives a replay its chance when an event could not be handed on', async () => {
		const taken: string[] = [];
		let broken = true;
		const { connection, socket, hold, logged } = chatConnectionHarness();
		connection.subscribe(({ type }) => {
			if (broken) throw new Error('full');
			taken.push(type);
		});
		connection.start();
		await hold();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		broken = false;
		socket().receives(eventFrame('nudge_sent', 'e1'));
		expect(taken).toEqual(['nudge_sent']);
		expect(logged.map(([message]) => message)).toContain('A chat event could not be handed on');
	});

	it('stops handing on to a subscriber that has left', async () => {
		const { connection, socket, hold } = chatConnectionHarness();
		const seen: string[] = [];
		const leave = connection.subscribe(({ type }) => {
			seen.push(type);
		});
		connection.start();
		await hold();
		socket().receives(eventFrame('nudge_sent', 'e1'));
		leave();
		socket().receives(eventFrame('nudge_sent', 'e2'));
		expect(seen).toEqual(['nudge_sent']);
	});
});
