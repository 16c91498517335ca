import { createHmac } from 'node:crypto';
import memoize from 'lodash/memoize';
import { recordOf } from '../calls/record';
import { istTimestamp } from '../clock';
import {
	invalid,
	notFound,
	numberMissing,
	ok,
	rejected,
	response,
	type Handler,
	type SimulatorRequest,
} from '../http/route';
import { LINK } from '../dialects/names';
import { isObject } from '../json';
import { callRequestProblems, countryOf, scheduledInstant } from '../rules/callRequest';
import { digitsOf, internationalForm } from '../rules/phone';
import type { Simulator } from '../simulator';
import { newCall, type Call } from '../state/state';

export const placeCall: Handler = async (sim, { body }) => {
	const { dialect, state, clock, completions } = sim;
	const now = clock.now();
	const fields = isObject(body) ? body : {};
	const problems = callRequestProblems(fields, dialect, now);
	if (problems.length > 0) return invalid(sim, problems, 400);
	const agent = state.ownAgent(fields.agent_uuid);
	if (!agent) return rejected(403, 'Agent not found or not associated with this account');
	if (!agent.active && dialect.calls.inactiveAgent === 'rejected') {
		return invalid(sim, ['agent is not active'], 400);
	}
	if (fields.webhook_url !== undefined && !agent.postCallAnalysis) {
		return rejected(400, 'webhook_url is set but post_call_analysis is not enabled on this agent');
	}
	const missing = numberMissing(sim, agent);
	if (missing) return missing;

	const phone = internationalForm(String(fields.phone_number), countryOf(fields), true) ?? '';
	const dialed = !state.dndPhones(agent.agentUuid).has(phone);
	if (!dialed && dialect.calls.numberOnDnd === 'rejected') {
		return invalid(sim, ["phone_number is on the agent's DND list"], 400);
	}
	const text = (value: unknown) => (typeof value === 'string' ? value : null);
	const scheduled = text(fields.scheduled_at);
	const scheduledAt = scheduled === null ? null : scheduledInstant(scheduled, now);
	const call = newCall({
		agentUuid: agent.agentUuid,
		phone,
		fromNumber: agent.number,
		callerName: text(fields.person_name),
		request: fields,
		webhookUrl: text(fields.webhook_url),
		createdAt: istTimestamp(now),
		scheduledAt,
		dialed,
	});
	state.calls.set(call.callId, call);
	await completions.placed(call);
	return ok({
		call_id: call.callId,
		...(scheduledAt !== null && {
			scheduled_at: istTimestamp(scheduledAt),
			scheduled_at_epoch: Math.floor(scheduledAt / 1000),
		}),
	});
};

const callOf = ({ state }: Simulator, { params }: SimulatorRequest) =>
	state.calls.get(params.id ?? '');

export const readCall: Handler = (sim, request) => {
	const call = callOf(sim, request);
	if (!call) return notFound(sim, 'callNotFound');
	const record = recordOf(call, sim);
	if (!call.finished) call.reads++;
	return ok(record);
};

export const readTranscript: Handler = (sim, request) => {
	const call = callOf(sim, request);
	if (!call) return notFound(sim, 'callNotFound');
	return ok({ call_id: call.callId, transcript: call.transcript });
};

const RECORDING_LIFETIME_S = 900;

export const readRecording: Handler = (sim, request) => {
	const call = callOf(sim, request);
	if (!call) return notFound(sim, 'callNotFound');
	if (!call.recording) return notFound(sim, 'recordingNotAvailable');
	const expires = sim.clock.now() + RECORDING_LIFETIME_S * 1000;
	const path = `/${call.callId}?X-Expires=${expires}&X-Signature=${sign(call.callId, expires)}`;
	return ok({
		call_id: call.callId,
		recording_url: sim.dialect.calls.recordingUrl(sim.baseUrl, path),
		expires_in_seconds: RECORDING_LIFETIME_S,
	});
};

/** A presigned URL, as in object storage. */
export const recordingFile: Handler = ({ state, dialect, clock }, request) => {
	const { params, query, headers } = request;
	const callId = params.id ?? '';
	const expires = Number(query['X-Expires']);
	// Object storage rejects a request with two kinds of credentials.
	if (headers['api-token'] !== undefined) return denied(400, 'OnlyOneAuthMechanismAllowed');
	if (query['X-Signature'] !== sign(callId, expires)) return denied(403, 'SignatureDoesNotMatch');
	if (clock.now() > expires) return denied(403, 'RequestHasExpired');
	const recording = state.calls.get(callId)?.recording;
	if (!recording) return denied(404, 'NoSuchKey');
	return { status: 200, body: recording, headers: dialect.calls.recordingHeaders };
};

function sign(callId: string, expires: number): string {
	return createHmac('sha256', 'recordings').update(`${callId}.${expires}`).digest('hex');
}

function denied(status: number, code: string) {
	const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`;
	return { status, body, headers: { 'content-type': 'application/xml' } };
}

type Query = Record<string, string>;

export const listCalls: Handler = (sim, request) => {
	const { [LINK]: token, ...others } = request.query;
	if (token === undefined) return page(sim, others);
	// A link is complete, so it's rejected with other parameters.
	const names = Object.keys(others);
	if (names.length > 0) return invalid(sim, [`${LINK} excludes ${names.join(', ')}`]);
	const asked = new URLSearchParams(Buffer.from(token, 'base64url').toString());
	return page(sim, Object.fromEntries(asked));
};

function page(sim: Simulator, query: Query) {
	const { state, dialect } = sim;
	const { calls } = dialect;
	const { paging, filters } = calls;
	const size = Number(query[paging.size] ?? paging.defaultSize);
	const shown = Math.min(size, paging.maxSize);
	const start = startOf(query[paging.position], shown, sim);
	if (!Number.isInteger(size) || size < 1 || start === null) {
		return invalid(sim, ['paging is not valid']);
	}
	const problems = [filters.from, filters.to]
		.filter((name) => query[name] !== undefined && Number.isNaN(Date.parse(query[name])))
		.map((name) => `${name} is not a date`);
	if (problems.length > 0) return invalid(sim, problems);
	const found = [...state.calls.values()].reverse().filter(wantedBy(query, sim));
	const next = start + shown < found.length ? start + shown : null;
	const items = found
		.slice(start, start + shown)
		.map((call) => calls.listItem(recordOf(call, sim)));
	const rest = new URLSearchParams({ ...query, [paging.position]: String(next) }).toString();
	const link = next === null ? null : `?${LINK}=${Buffer.from(rest).toString('base64url')}`;
	return response(200, calls.listBody({ items, total: found.length, next, link }));
}

/** The index of the first item, from a page number, an offset, or a cursor. */
function startOf(position: string | undefined, size: number, { dialect }: Simulator) {
	const { style } = dialect.calls.paging;
	if (position === undefined) return 0;
	const number = Number(style === 'cursor' ? position.replace(/^c/, '') : position);
	if (!Number.isInteger(number) || number < (style === 'pageFromOne' ? 1 : 0)) return null;
	if (style === 'pageFromOne') return (number - 1) * size;
	return style === 'pageFromZero' ? number * size : number;
}

/** Returns a filter for calls. Unused query parameters cost nothing in a long list. */
function wantedBy(query: Query, { dialect, clock }: Simulator): (call: Call) => boolean {
	const { filters, listsScheduled } = dialect.calls;
	const asked = (name: string, holds: (value: string, call: Call) => boolean) => {
		const value = query[name];
		return value === undefined ? [] : [(call: Call) => holds(value, call)];
	};
	const now = clock.now();
	const checks = [
		...(listsScheduled ? [] : [(call: Call) => (call.scheduledAt ?? now) <= now]),
		...asked(filters.status, (status, call) => status === String(call.outcome.status)),
		...asked(filters.agent, (agent, call) => agent === call.agentUuid),
		...asked(filters.campaign, (campaign, call) => campaign === String(call.campaignId)),
		...asked('campaign_upload_id', (upload, call) => upload === String(call.uploadId)),
		...asked(filters.from, (from, call) => timeOf(call.createdAt) >= timeOf(from)),
		...asked(filters.to, (to, call) => timeOf(call.createdAt) <= endOf(to)),
		...asked(filters.phone, (phone, call) => call.phone.includes(digitsOf(phone))),
	];
	return (call) => checks.every((holds) => holds(call));
}

/** Each page of a long list compares all times again. */
const timeOf = memoize((date: string) => Date.parse(date));

/** A bare date includes the whole day. */
function endOf(date: string): number {
	return timeOf(date) + (/^\d{4}-\d{2}-\d{2}$/.test(date) ? 86_399_999 : 0);
}
