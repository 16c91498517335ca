import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { apiMappingProperties, authorize } from '../nodes/shared/n8n/http/credential';

export class VoiceChatAgentApiTokenApi implements ICredentialType {
	name = 'voiceChatAgentApiTokenApi';

	displayName = 'Voice and Chat Agent API';

	icon = {
		light: 'file:../nodes/shared/icons/voiceChatAgent.svg',
		dark: 'file:../nodes/shared/icons/voiceChatAgent.dark.svg',
	} as const;

	documentationUrl =
		'https://publisher.invalid/n8n-nodes-voice-chat-agent/blob/main/docs/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://voice.your-provider.com',
			description: 'The URL of your Voice and Chat Agent Service, beginning with https://',
		},
		{
			displayName: 'API Token',
			name: 'apiToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'The 16-character token from your dashboard settings. Keep it secret, because it can place calls.',
		},
		{
			displayName:
				'API mapping: the names of some values differ between services. Send the <a href="https://publisher.invalid/n8n-nodes-voice-chat-agent/blob/main/docs/provider-questionnaire.md" target="_blank">questionnaire</a> to your provider and paste the reply below. Or turn on a section below when a node asks for it. When you save, n8n tests what it can read. It doesn\'t test chat requests, filters, or changes to lists.',
			name: 'openDetailsNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Settings From Your Provider',
			name: 'providerSettings',
			type: 'string',
			typeOptions: { rows: 6 },
			default: '',
			placeholder: 'e.g. { "callList": { "callListPath": "data.calls" } }',
			description:
				"The block of settings that your provider sent, with its curly brackets. Its sections replace the sections below. Sections that it doesn't contain are read from below.",
		},
		...apiMappingProperties(),
	];

	/** Adds the token as a header, and only to requests below the base URL. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return await Promise.resolve(authorize(credentials, request));
	}
}
