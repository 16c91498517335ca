import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { apiMappingProperties, authorize } from '../nodes/shared/n8n/credential';

export class VoiceChatAgentApiTokenApi implements ICredentialType {
	name = 'voiceChatAgentApiTokenApi';

	displayName = 'Voice and Chat Agent API';

	icon = {
		light: 'file:../nodes/shared/icons/voiceChatAgent.svg',
		dark: 'file:../nodes/shared/icons/voiceChatAgent.dark.svg',
	} as const;

	documentationUrl =
		'https://github.com/n8n-nodes-voice-chat-agent/n8n-nodes-voice-chat-agent/blob/main/docs/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://voice.your-provider.com',
			description: 'The address of your Voice and Chat Agent Service, beginning with https://',
		},
		{
			displayName: 'API Token',
			name: 'apiToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'The 16-character token from the settings of your dashboard. Keep it secret: it can place calls.',
		},
		{
			displayName:
				'Some details differ from one service to another. Turn on a topic below only when a node asks for it; whoever provides your service knows the values. In a body, dots in a name nest it (entry.phone) and a number is a place in a list (phones.0). In the address, a name is sent as it is written.',
			name: 'openDetailsNotice',
			type: 'notice',
			default: '',
		},
		...apiMappingProperties(),
	];

	/** The token travels in a header, and to the base URL alone. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return await Promise.resolve(authorize(credentials, request));
	}
}
