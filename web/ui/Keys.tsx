// Renders a shortcut such as "g a" or "mod+k" as keys.
const isMac = navigator.platform.startsWith("Mac");

export function Keys({ keys }: { keys: string }) {
  return (
    <span className="keys">
      {keys.split(" ").map((press, index) => (
        <span key={press}>
          {index > 0 && <span className="quiet small">then </span>}
          {press.split("+").map(key => (
            <kbd key={key}>
              {key === "mod"
                ? isMac
                  ? "⌘"
                  : "Ctrl"
                : key.length === 1 && press !== key
                  ? key.toUpperCase()
                  : key}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  );
}
