import mapValues from 'lodash/mapValues';
import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { isObject } from './json';
import { call, type Got } from './testing/api';

const { calls } = fixtures;

describe.each(Object.values(dialects))('reading calls, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const get = async (path: string) => await call(sim, 'GET', path);
	const idsIn = ({ body }: Got) =>
		[...JSON.stringify(body).matchAll(/(?:"call_id":"([^"]+)"|"([0-9a-f-]{36})":\{)/g)].map(
			([, value, key]) => value ?? key,
		);
	const list = async (query: Record<string, string | number>) => {
		const strings = mapValues(query, String);
		return await get(`/v1/calls?${new URLSearchParams(strings).toString()}`);
	};

	it('shows the record of a finished call', async () => {
		const { status, data } = await get(`/v1/call/${calls.finished}`);
		expect(status).toBe(200);
		expect(data).toMatchObject({
			call_id: calls.finished,
			agent_uuid: fixtures.agents.full,
			agent_name: 'Sales India',
			phone_number: expect.stringMatching(/^\+91\d{10}$/),
			status: 'picked',
			call_type: 'outbound',
			channel: 'sip',
			call_ended_by: 'agent',
			call_ended_reason: 'assistant-ended-call',
			campaign_id: 101,
			tag: { id: 7, color_code: expect.stringMatching(/^#/) },
			post_call_analysis: { sentiment: 'positive', callback_required: false },
		});
	});

	it('shows values that the document does not name', async () => {
		const { data } = await get(`/v1/call/${calls.unusual}`);
		expect(data.status).toBe(dialect.calls.unusual.status);
	});

	it('moves the status of a call in flight on with each reading', async () => {
		const seen = [];
		for (let i = 0; i < 4; i++) {
			const { data } = await get(`/v1/call/${calls.inFlight}`);
			seen.push('status' in data ? data.status : 'absent');
		}
		const last = dialect.calls.inFlight.at(-1) ?? 'absent';
		expect(seen[3]).toBe(last);
		expect(seen[0]).toBe(dialect.calls.inFlight[0] ?? 'absent');
		expect('summary' in (await get(`/v1/call/${calls.inFlight}`)).data).toBe(
			dialect.calls.missing === 'null',
		);
	});

	it('shows transcripts, empty where none was captured', async () => {
		const { data } = await get(`/v1/call/${calls.finished}/transcript`);
		expect(data).toMatchObject({
			call_id: calls.finished,
			transcript: [
				{ role: 'assistant' },
				{ role: dialect.calls.customerRole },
				{ role: 'assistant' },
			],
		});
		const none = await get(`/v1/call/${calls.notPicked}/transcript`);
		expect(none.data).toEqual({ call_id: calls.notPicked, transcript: [] });
	});

	it('serves a recording from another place, without the token, for 900 seconds', async () => {
		const { data } = await get(`/v1/call/${calls.finished}/recording`);
		expect(data).toMatchObject({ call_id: calls.finished, expires_in_seconds: 900 });
		const url = String(data.recording_url);
		expect(new URL(url).pathname).not.toContain('/v1/');
		const file = await fetch(url);
		expect(file.status).toBe(200);
		expect(file.headers.get('content-type')).toBe(dialect.calls.recordingHeaders['content-type']);
		expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 0, 4)).toBe('RIFF');
		expect((await fetch(url, { headers: { 'API-Token': sim.token } })).status).toBe(400);
		expect((await fetch(url.replace('Signature=', 'Signature=x'))).status).toBe(403);
		sim.clock.advance(900_001);
		expect((await fetch(url)).status).toBe(403);
	});

	it('has no recording where none was made', async () => {
		expect(await get(`/v1/call/${calls.noRecording}/recording`)).toMatchObject({
			status: dialect.statuses.recordingNotAvailable,
			body: { success: false, error: 'recording_not_available' },
		});
	});

	it.each(['', '/transcript', '/recording'])('does not know a call: %s', async (part) => {
		expect(await get(`/v1/call/${fixtures.sessions.unknown}${part}`)).toMatchObject({
			status: dialect.statuses.callNotFound,
			body: { success: false, error: 'call_not_found' },
		});
	});

	it('filters under its own names, newest first', async () => {
		const { filters } = dialect.calls;
		const all = { [dialect.calls.paging.size]: 25 };
		const failed = idsIn(await list({ ...all, [filters.status]: 'failed' }));
		expect(failed).toHaveLength(7);
		expect(failed).toEqual([...failed].sort().reverse());
		expect(idsIn(await list({ ...all, [filters.agent]: fixtures.agents.us }))).toEqual([
			calls.unusual,
		]);
		expect(idsIn(await list({ [filters.phone]: '9876500003' }))).toEqual([calls.notPicked]);
		expect(idsIn(await list({ [filters.campaign]: 999 }))).toEqual([]);
		const upload = idsIn(await list({ ...all, campaign_upload_id: fixtures.uploads.running }));
		expect(upload).toHaveLength(17);
		const since = new Date(Date.now() - 11.5 * 3_600_000).toISOString();
		expect(idsIn(await list({ ...all, [filters.from]: since }))).toHaveLength(3);
		const until = idsIn(await list({ ...all, [filters.to]: since }));
		expect(until).not.toContain(calls.inFlight);
		expect((await list({ [filters.from]: 'soon' })).status).toBe(dialect.validation.status);
	});

	it('pages in its own way until every call was seen once', async () => {
		const { paging } = dialect.calls;
		const seen: Array<string | undefined> = [];
		let position: string | number | null = null;
		for (let page = 1; page <= 20; page++) {
			const got: Got = await list(position === null ? {} : { [paging.position]: position });
			const ids = idsIn(got);
			seen.push(...ids);
			const cursor: unknown = isObject(got.body.data) ? got.body.data.next_cursor : undefined;
			position = paging.style === 'page' ? page + 1 : seen.length;
			if (paging.style === 'cursor') position = typeof cursor === 'string' ? cursor : null;
			if (ids.length < paging.defaultSize || position === null) break;
		}
		expect(seen).toHaveLength(sim.state.calls.size);
		expect(new Set(seen).size).toBe(seen.length);
	});
});
