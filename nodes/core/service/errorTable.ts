import { isJsonObject, type JsonObject } from '../values/json';
import type { Explanation } from './explanation';
import { TOO_MANY_REQUESTS, type ServiceRequest } from './http';

/*
 * What a rejection of the service says to people and models. If no response proves what happened, response.ts and client.ts
 * explain that.
 */

/** An error: how it's recognized, what happened, and what to do. Each condition that isn't set is met. */
type ErrorRowWith<Code = string> = Explanation & {
	/** This package's name of an error in docs/openapi.yaml. Only some of these names are also codes of the service. */
	code?: Code;
	/** Requests, as `METHOD /path`. */
	at?: RegExp;
	/** HTTP statuses. */
	statuses?: readonly number[];
	/** What `error`, a text of `errors`, or the reason of the chat engine says. */
	says?: RegExp;
	/** What else the error body shows. */
	shows?: (body: JsonObject) => boolean;
	/**
	 * Requests for which the document shows the error without a status, so its body proves the rejection with any. At another one,
	 * the service may have failed halfway.
	 */
	anyStatus?: RegExp;
	/**
	 * Whether the status alone means that the request wasn't processed, from the service or a proxy (RFC 9110, RFC 6585). No other
	 * 4xx counts: after a 403, 408, or 499 of a proxy, the service may have processed the request.
	 */
	statusAloneRejects?: true;
};

const CONTACT_PUSH = /^POST \/v1\/campaigns\/[^/]+\/contacts$/;

/**
 * Every error that a response shows. The first row that matches applies. An error code is all of the text: inside a longer
 * one, it may be part of a crash report.
 */
const ROWS = [
	{
		code: 'invalid_api_token',
		statuses: [401, 407],
		statusAloneRejects: true,
		message: 'The service or a proxy rejected the API token',
		resolution:
			"In n8n, enter the 16-character token from your dashboard settings in 'API Token' of the credential, and check 'Base URL'. If both are correct, a proxy may require its own sign-in, so ask your n8n administrator.",
	},
	{
		statuses: [307, 308],
		statusAloneRejects: true,
		message: "The service or a proxy responded with a redirect, which isn't followed",
		resolution:
			"In n8n, set 'Base URL' in the credential to the final URL of the service. The API token is only sent to that URL.",
	},
	{
		statuses: [413],
		statusAloneRejects: true,
		message: 'The request is too large for the service or a proxy',
		resolution:
			"The request had no effect. Shorten the texts, or leave out values that aren't needed.",
	},
	{
		statuses: [TOO_MANY_REQUESTS],
		statusAloneRejects: true,
		message: 'The service or a proxy rejected the request because it receives too many',
		resolution: 'The request had no effect. Try again later, with fewer requests at the same time.',
		isTransient: true,
	},
	{
		code: 'no_outbound_number',
		anyStatus: /^POST \/(?:(?:v1\/)?call|v1\/campaigns\/[^/]+\/contacts)$/,
		shows: ({ details }) =>
			isJsonObject(details) && details.error_code === 'NO_OUTBOUND_NUMBER_CONFIGURED',
		message: "The agent has no outbound number, so it can't place calls",
		resolution: 'Attach an outbound number to the agent, or use another agent.',
	},
	{
		code: 'session_closed',
		says: /^session_closed$/,
		message: 'The chat session is closed',
		// Also right if the session is that of a row, which nobody has to fix.
		resolution:
			'A closed session stays closed. To continue the conversation, another session is needed.',
	},
	{
		code: 'relayed_rejection',
		anyStatus: /^POST \/(?:v1\/chat\/|chat_)/,
		shows: ({ upstream_body: upstream }) => isJsonObject(upstream) && upstream.state === 'rejected',
		message: 'The chat engine rejected the request',
		resolution:
			'Check the reason that the service gives, and the state of the chat session, such as whether a person has taken over.',
	},
	{
		code: 'agent_not_found',
		anyStatus:
			/^(?:POST \/v1\/campaigns|\w+ \/v1\/(?:dnd_numbers|calls|active_agents|chat)|POST \/chat_)/,
		says: /^(?:agent_not_found$|Agent not found or not associated with this account\b)/i,
		message: 'The account of this API token has no agent with this ID',
		resolution:
			'Use the ID of an agent of this account, such as "agent_5f2c9a", not its name. If there\'s a session ID, check it, too.',
	},
	{
		code: 'call_not_found',
		anyStatus: /^GET \/v1\/call\//,
		says: /^call_not_found$/,
		message: "The service doesn't know this call",
		resolution:
			'Check the call_id, which is returned when the call is placed. The call must belong to this account.',
	},
	{
		code: 'recording_not_available',
		anyStatus: /^GET .*\/recording$/,
		says: /^recording_not_available$/,
		message: 'This call has no recording',
		resolution:
			'Unanswered calls may have no recording. If the call is still in progress, try again after it ends.',
	},
	{
		code: 'campaign_not_found',
		anyStatus: /\/campaigns\//,
		says: /^Couldn['’]t find Campaign\b/i,
		message: "The service doesn't know this campaign",
		resolution:
			"Check the campaign ID. It's a number, and the campaign must belong to this account.",
	},
	{
		code: 'not_on_dnd_list',
		anyStatus: /^DELETE /,
		says: /^Phone number not found on DND list\b/i,
		message: "The number isn't on the do-not-disturb list of this agent",
		resolution:
			"The number doesn't need to be removed. To skip such numbers, turn on 'Ignore If Not Listed'.",
	},
	{
		code: 'phone_missing',
		anyStatus: /^DELETE /,
		at: /^DELETE /,
		// All that the document shows of the text. An outage may name a phone, too.
		says: /^(?=.*\bphone\b)(?=.*(?:missing|empty|blank|required|not (?:given|present|provided)))/is,
		message: 'The service found no usable phone number in the request',
		resolution:
			'Give the number with + and the country code, such as "+919876543210". In n8n, if the number is right, check where "dnd.remove" has {phone} in \'Service Profile\' of the credential.',
	},
	{
		code: 'post_call_analysis_missing',
		says: /^webhook_url is set but post_call_analysis is not enabled\b/i,
		message: 'The agent has no post-call analysis, so the service rejects the webhook URL',
		resolution: "Enable post-call analysis for the agent, or clear 'Webhook URL'.",
	},
	{
		code: 'contact_rejected',
		says: /contacts\[\d+\]/,
		message: 'The service rejected one of the contacts',
		resolution:
			'Correct the contact that the service names, then push it again. A phone number needs 10 digits and starts with 6 to 9, such as "9876543210".',
	},
	{
		// The document gives this status no other meaning here, and no text.
		code: 'campaign_archived',
		at: CONTACT_PUSH,
		statuses: [409],
		message: "The campaign doesn't accept contacts, probably because it's archived",
		resolution:
			'Archived campaigns are read-only. Use another campaign, unless the service gives another reason.',
	},
	{
		// How the service rejects an unknown session isn't documented.
		statuses: [403, 404],
		message: "The service didn't find this, or doesn't allow it with your API token",
		resolution:
			"Check the IDs, because those of another account can't be used. In n8n, also check 'Base URL' in the credential, which must not end with a version such as /v1.",
	},
] as const satisfies readonly ErrorRowWith[];

/** The errors that the document names. */
export type ErrorCode = Extract<(typeof ROWS)[number], { code: string }>['code'];

export type ErrorRow = ErrorRowWith<ErrorCode>;
export const ERRORS: readonly ErrorRow[] = ROWS;

/** Any other rejection, such as of a number on a do-not-disturb list, for which the document gives no status or text. */
const LAST: ErrorRow = {
	message: 'The service rejected the request',
	resolution:
		'The request had no effect. Correct what the service names, or check the values and the IDs. Then try again.',
};

/** Explains a response that isn't a success by its request, status, and error body. */
export function errorRowOf(
	{ method, path }: ServiceRequest,
	status: number,
	texts: readonly string[],
	body: JsonObject,
): ErrorRow {
	const row = ERRORS.find(
		({ at, statuses, says, shows }) =>
			at?.test(`${method} ${path}`) !== false &&
			statuses?.includes(status) !== false &&
			(says === undefined || texts.some((text) => says.test(text.trim()))) &&
			shows?.(body) !== false,
	);
	return row ?? LAST;
}
