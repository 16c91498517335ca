import difference from 'lodash/difference';
import omitBy from 'lodash/omitBy';
import type { ApiClient } from '../service/client';
import {
	type Additions,
	addDndNumber,
	createSession,
	removeDndNumber,
	sendInbound,
	sendInboundAsync,
} from '../service/endpoints';
import { InvalidInput } from '../service/errors';
import type { ApiResponse, Query, QueryValue } from '../service/http';
import { isJsonObject, type JsonObject } from '../values/json';
import { isUnset, joinedWithAnd, quoted } from '../values/values';
import {
	type Part,
	type PartName,
	type PLACEHOLDERS,
	type Profile,
	querySchema,
	readProfile,
	type RequestName,
	SERVICE_PROFILE,
	type Template,
} from './schema';
import { filled, placeholdersIn } from './template';

export const QUESTIONNAIRE =
	'https://publisher.invalid/n8n-nodes-voice-chat-agent/blob/main/docs/provider-questionnaire.md';

type Names<
	Name extends RequestName,
	Kind extends 'must' | 'may',
> = (typeof PLACEHOLDERS)[Name][Kind][number];

/** The values of a request. Empty ones are left out. */
export type ValuesOf<Name extends RequestName> = {
	[name in Names<Name, 'must'>]: QueryValue | undefined;
} & { [name in Names<Name, 'may'>]?: QueryValue | undefined };

/** What the document doesn't show of a service, as its provider shows it in the credential. */
export class ServiceProfile {
	private profile: Profile | undefined;

	/**
	 * @param written JSON, or the same as an object from an expression
	 * @param hideApiToken hides it in a message, because a person may have pasted it with the profile
	 */
	constructor(
		private readonly written: unknown = '',
		private readonly hideApiToken: (text: string) => string = (text) => text,
	) {}

	/**
	 * What the profile shows of a part.
	 *
	 * @throws InvalidInput if the profile is invalid, even in another part
	 */
	part<Name extends PartName>(name: Name): Profile[Name] {
		this.profile ??= readProfile(this.written, this.hideApiToken);
		return this.profile[name];
	}

	/** @throws InvalidInput that says how to get the part */
	required<Name extends PartName>(name: Name): Part<Name> {
		const part = this.part(name);
		if (part !== undefined) return part;
		throw new InvalidInput(
			`'${SERVICE_PROFILE}' in the credential lacks "${name}"`,
			this.resolution(name),
		);
	}

	/** Whether a request can have a value, or must have it. Undefined if the profile has no place for it. */
	needOf<Name extends RequestName>(
		name: Name,
		placeholder: keyof ValuesOf<Name>,
	): 'optional' | 'needed' | undefined {
		const { query = {}, body = {} }: Template = this.part(name) ?? {};
		const shown = placeholdersIn([query, body]).filter((one) => one.name === placeholder);
		if (shown.length === 0) return undefined;
		return shown.every((one) => one.isOptional) ? 'optional' : 'needed';
	}

	/**
	 * The values of a request at their places.
	 *
	 * @throws InvalidInput if the profile has no place for a value, or the service needs an empty one
	 */
	request<Name extends RequestName>(
		name: Name,
		values: ValuesOf<Name>,
	): { query: Query; body?: JsonObject } {
		const template: Template = this.required(name);
		const { query = {}, body = {} } = template;
		const given = omitBy<QueryValue | undefined>(values, isUnset);
		const shown = placeholdersIn([query, body]);
		const names = shown.map((one) => one.name);
		const homeless = difference(Object.keys(given), names).map((one) => `{${one}}`);
		const ifNone =
			' If your service has no such value, leave its field empty, unless the node needs it.';
		if (homeless.length > 0) throw lacks(name, homeless, ifNone);
		const needed = shown.find((one) => !one.isOptional && given[one.name] === undefined);
		if (needed !== undefined) throw isNeeded(name, needed.name);
		const filledBody = filled(body, given);
		return {
			query: querySchema.parse(filled(query, given) ?? {}),
			...(template.body && { body: isJsonObject(filledBody) ? filledBody : {} }),
		};
	}

	/** What to do if a part is missing, or these of its entries or placeholders are missing or wrong. */
	resolution(name: PartName, ...entries: string[]): string {
		if (this.part(name) === undefined) {
			return `In n8n, add "${name}" to '${SERVICE_PROFILE}' under 'More Settings' in the credential. Ask your service provider for it with the questionnaire (${QUESTIONNAIRE}).`;
		}
		return `In n8n, check ${joinedWithAnd(entries.map(quoted))} in "${name}" of '${SERVICE_PROFILE}' in the credential.`;
	}

	/** What to do if the service seems to ignore a query parameter. */
	ignoredParameter(name: RequestName, placeholder: string): string {
		return `${this.resolution(name, `{${placeholder}}`)} The service probably doesn't know this parameter.`;
	}
}

/** The client of an account, and what the document doesn't show of its service. */
export type Account = { client: ApiClient; profile: ServiceProfile };

/** The requests that a profile shows, other than reads of lists. */
const REQUESTS = {
	'dnd.add': addDndNumber,
	'dnd.remove': removeDndNumber,
	'chat.session': createSession,
	'chat.inbound': sendInbound,
	'chat.async': sendInboundAsync,
} as const;

/**
 * Sends a request with its values at the places that the profile shows.
 *
 * @param documented what the document shows of its body. If neither shows one, the request has none.
 */
export async function sendByProfile<Name extends keyof typeof REQUESTS>(
	name: Name,
	{ client, profile }: Account,
	values: ValuesOf<Name>,
	additions?: Additions,
	documented?: JsonObject,
): Promise<ApiResponse> {
	const { body = documented, ...shown } = profile.request(name, values);
	const request = { ...shown, ...(body && { body: { ...body, ...documented } }) };
	return await REQUESTS[name](client, request, additions);
}

/**
 * What the profile doesn't have in a part: placeholders such as `{phone}`, or other entries.
 *
 * @param otherwise what to do if the service doesn't have it either
 */
export function lacks(name: RequestName, entries: string[], otherwise = ''): InvalidInput {
	return new InvalidInput(
		`"${name}" of '${SERVICE_PROFILE}' in the credential has no ${joinedWithAnd(entries)}`,
		`In n8n, add it there. Ask your service provider for it with the questionnaire (${QUESTIONNAIRE}).${otherwise}`,
	);
}

function isNeeded(name: RequestName, placeholder: string): InvalidInput {
	return new InvalidInput(
		`The service needs {${placeholder}} for "${name}"`,
		`Fill in its field. In n8n, if the node has none, write {${placeholder}?} or a fixed value in "${name}" of '${SERVICE_PROFILE}' in the credential.`,
	);
}
