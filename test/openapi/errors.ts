/** Every error that docs/openapi.yaml has, with bodies, and with its endpoints and statuses. */
import difference from 'lodash/difference';
import groupBy from 'lodash/groupBy';
import snakeCase from 'lodash/snakeCase';
import uniq from 'lodash/uniq';
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../nodes/core/service/errorTable';
import type { JsonObject } from '../../nodes/core/values/json';
import { propertiesOf } from './names';
import { ENDPOINTS, resolved, schemaNamed, schemasOf } from './openapi';

/** An error of the service, at the endpoints that can return it. Without statuses, its status isn't shown. */
export type DocumentedError = [
	code: ErrorCode,
	raisedBy: readonly string[],
	body: JsonObject,
	statuses: readonly number[] | undefined,
];

const CONTACTS = ['POST /v1/campaigns/{id}/contacts'];
const CHAT = ENDPOINTS.map(({ name }) => name).filter((name) => name.includes('chat'));
/** The errors of docs/openapi.yaml by the names of their schemas, whose codes are those names except for these. */
const OTHER_CODES: { [schema: string]: string } = {
	InvalidToken: 'invalid_api_token',
	AgentNotInAccount: 'agent_not_found',
};
/** Endpoints at which an error is known, too, although the document names only others. */
const ALSO_AT: { [schema: string]: readonly string[] } = {
	CampaignNotFound: CONTACTS,
	SessionClosed: CHAT,
};

const rejection = { state: 'rejected', reason: 'tell_not_allowed_during_takeover' };

/** Bodies of the errors that have no fixed text, and other spellings of a text. */
const BODIES: Array<[schema: string, body: JsonObject]> = [
	['CampaignNotFound', { error: ' Couldn’t find campaign: 7' }],
	['CampaignNotFound', { error: "Couldn't find Campaign with 'id'=7" }],
	['PhoneMissing', { error: 'param is missing or the value is empty: phone' }],
	[
		'NoOutboundNumber',
		{
			error: 'Attach an outbound number to the agent',
			details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED', action: 'attach_number' },
		},
	],
	['RelayedRejection', { error: 'tell was rejected', upstream_body: rejection }],
];

const errorCode = z.custom<ErrorCode>((value) => ERRORS.some(({ code }) => code === value));

/** Where the contract has each schema of an error. */
const PLACES = groupBy(
	ENDPOINTS.flatMap(({ name, responses }) =>
		Object.entries(responses).flatMap(([status, response]) =>
			schemasOf(response).map((schema) => ({ schema, name, status })),
		),
	),
	'schema',
);

const FIXED_TEXTS = Object.keys(PLACES).flatMap((schema): typeof BODIES => {
	const { const: error } = resolved(propertiesOf(schemaNamed(schema)).error);
	return typeof error === 'string' ? [[schema, { error }]] : [];
});

const KNOWN = [...FIXED_TEXTS, ...BODIES];

/** Schemas of errors without a body here. */
export const WITHOUT_BODY = difference(
	Object.keys(PLACES),
	KNOWN.map(([schema]) => schema),
);

export const DOCUMENTED: DocumentedError[] = [
	...KNOWN.map(([schema, body]): DocumentedError => {
		const places = PLACES[schema] ?? [];
		const raisedBy = uniq([...places.map((place) => place.name), ...(ALSO_AT[schema] ?? [])]);
		const statuses = uniq(places.map(({ status }) => Number(status)));
		const code = errorCode.parse(OTHER_CODES[schema] ?? snakeCase(schema));
		return [code, raisedBy, body, statuses.some(Number.isNaN) ? undefined : statuses];
	}),
	[
		'contact_rejected',
		CONTACTS,
		{ error: 'contacts[2].phone is not a valid phone number' },
		[400, 422],
	],
];
