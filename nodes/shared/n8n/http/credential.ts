import {
	type ICredentialDataDecryptedObject,
	type IHttpRequestOptions,
	type INodeProperties,
	UserError,
} from 'n8n-workflow';
import { isBelow, parseApiToken, parseBaseUrl } from '../../api/access';
import { explained } from '../../api/errors';
import { MAPPING_TOPICS, type MappingTopic } from '../../apiMapping/topics';
import type { MappingField } from '../../apiMapping/field';
import { withoutEnd } from '../../text';

/** Type name of the credential; users' saved workflows depend on it. */
export const CREDENTIAL = 'voiceChatAgentApiTokenApi';

/** Name under which every node offers the credential's test. */
export const CREDENTIAL_TEST = 'voiceChatAgentApiTest';

export type ServiceAccess = { baseUrl: string; apiToken: string };

/** @throws InvalidInput with the field of the credential that needs mending */
export function readServiceAccess(data: ICredentialDataDecryptedObject): ServiceAccess {
	return {
		baseUrl: parseBaseUrl(typeof data.baseUrl === 'string' ? data.baseUrl : ''),
		apiToken: parseApiToken(typeof data.apiToken === 'string' ? data.apiToken : ''),
	};
}

/** Both of n8n's helpers: a redirect would take the token's header along to another host. */
const NO_REDIRECTS = {
	disableFollowRedirect: true,
	followRedirect: false,
	followAllRedirects: false,
	maxRedirects: 0,
};

/**
 * Adds the API token to a request that goes below the base URL, for the nodes of this package and
 * for n8n's own HTTP Request node.
 *
 * @throws UserError for any other address, so that the token never leaves its service
 */
export function authorize(
	data: ICredentialDataDecryptedObject,
	request: IHttpRequestOptions,
): IHttpRequestOptions {
	const { baseUrl, apiToken } = readAccess(data);
	const target = targetOf(request);
	if (target === null || !isBelow(baseUrl, target)) {
		throw notAuthorized(
			'The API token was not sent: this address is not below Base URL',
			`This credential serves addresses that begin with ${baseUrl}/ alone. Correct the URL, or choose another credential for it. The request was not sent.`,
		);
	}
	return { ...request, ...NO_REDIRECTS, headers: { ...request.headers, 'API-Token': apiToken } };
}

function readAccess(data: ICredentialDataDecryptedObject): ServiceAccess {
	try {
		return readServiceAccess(data);
	} catch (error) {
		const { message, resolution } = explained(error);
		throw notAuthorized(message, resolution);
	}
}

function notAuthorized(message: string, description: string): UserError {
	return new UserError(message, { description });
}

const SLASH = /\//;

/** Where a request goes; n8n's older helper, which its HTTP Request node uses, calls the address `uri`. */
type Addressed = { url?: unknown; uri?: unknown; baseURL?: unknown };

/** The address as the HTTP library puts it together; null where it cannot be told. */
function targetOf({ url, uri, baseURL }: Addressed): URL | null {
	const address = textOf(url ?? uri);
	const base = textOf(baseURL);
	const isWhole = /^([a-z][a-z\d+.-]*:)?\/\//i.test(address);
	const joined =
		base === '' || isWhole ? address : `${withoutEnd(base, SLASH)}/${address.replace(/^\/+/, '')}`;
	return URL.canParse(joined) ? new URL(joined) : null;
}

function textOf(address: unknown): string {
	return typeof address === 'string' || address instanceof URL ? String(address) : '';
}

/** The *API Mapping* of the credential form: a switch for each topic, its fields behind it. */
export function apiMappingProperties(): INodeProperties[] {
	return MAPPING_TOPICS.flatMap((topic) => [
		{
			displayName: topic.switchLabel,
			name: topic.switchName,
			type: 'boolean' as const,
			default: false,
			description: topic.switchDescription,
		},
		...Object.entries(topic.fields).map(([name, field]) => toProperty(topic, name, field)),
	]);
}

function toProperty(topic: MappingTopic, name: string, field: MappingField): INodeProperties {
	const shared = {
		displayName: field.label,
		name,
		default: '',
		description: field.description,
		displayOptions: { show: { [topic.switchName]: [true] } },
	};
	if (field.choices === undefined) {
		return { ...shared, type: 'string', placeholder: field.placeholder };
	}
	const choices = field.choices.map((choice) => ({ ...choice }));
	return {
		...shared,
		type: 'options',
		options: [{ name: field.unset ?? 'Not Set', value: '' }, ...choices],
	};
}
