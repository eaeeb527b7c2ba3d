// Whether the user is still on the page that sent a request, for what its answer leads to.
import { useRouter } from "@tanstack/react-router";

/** Call it when the request is sent, and what it returns once there is an answer. Search parameters do not count. */
export function usePageCheck(): () => () => boolean {
  const router = useRouter();
  return () => {
    const { pathname } = router.state.location;
    return () => router.state.location.pathname === pathname;
  };
}
